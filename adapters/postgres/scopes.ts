import { eq, sql } from 'drizzle-orm'
import type { ScopeStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { key, type Lookups } from './lookup/lookups.js'
import { scopes } from './schema.js'
import { typed } from './sql/columns.js'
import { builder, withDriverErrors } from './sql/statements.js'

const columns = { name: typed(scopes.name), text: typed(scopes.text) }

export const createScopeStore = ({ write }: Pick<Driver, 'write'>, lookups: Lookups): ScopeStore => {
  const writer = builder(write)

  return {
    async set({ name, text }) {
      const inserting = writer.insert(scopes).values({ name, text })
      await withDriverErrors(inserting.onConflictDoUpdate({ target: scopes.name, set: { text } }))
    },

    find: lookups.create({
      name: 'scope',
      columns,
      select: writer.select(columns).from(scopes).where(eq(scopes.name, key)),
      type: 'text',
      read: ({ name, text }) => ({ name: String(name), text: String(text) })
    }),

    async list() {
      // The collation "C" orders by code points, whatever the collation of the database.
      return withDriverErrors(writer.select(columns).from(scopes).orderBy(sql`${scopes.name} collate "C"`))
    },

    async remove(name) {
      const removing = writer.delete(scopes).where(eq(scopes.name, name))
      return (await withDriverErrors(removing.returning({ name: columns.name }))).length > 0
    }
  }
}
