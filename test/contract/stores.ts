import type { Test } from 'tap'
import { attemptContract } from './attempts.js'
import { clientContract } from './clients.js'
import { codeContract } from './codes.js'
import { grantContract } from './grants.js'
import { heroContract } from './heroes.js'
import type { CreateStores } from './records.js'
import { scopeContract } from './scopes.js'
import { tokenContract } from './tokens.js'
import { userContract } from './users.js'

/** Tests every promise that core/ports.ts makes of a store, port by port. */
export const storeContract = async (t: Test, createStores: CreateStores): Promise<void> => {
  await t.test('heroes', t => heroContract(t, createStores))
  await t.test('users', t => userContract(t, createStores))
  await t.test('clients', t => clientContract(t, createStores))
  await t.test('scopes', t => scopeContract(t, createStores))
  await t.test('grants', t => grantContract(t, createStores))
  await t.test('codes', t => codeContract(t, createStores))
  await t.test('tokens', t => tokenContract(t, createStores))
  await t.test('attempts', t => attemptContract(t, createStores))
}
