import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyContextConfig } from 'fastify'
import { DomainError, HERO_NAME_MAX, type NewHero } from '../../../core/index.js'
import type { BearerCheck } from '../bearer.js'
import { DOCUMENTED, type Operation } from '../openapi/operation.js'

/** The properties of a hero beside its id: whatever is sent, stored, shown and documented follows from these. */
const fields = {
  name: Type.String({
    description: 'The name, which no other hero has, as it was sent.',
    examples: ['Starling'],
    [DOCUMENTED]: { minLength: 1, maxLength: HERO_NAME_MAX }
  })
} satisfies { readonly [Key in keyof NewHero]-?: TSchema }
export const HeroOutput = Type.Object(
  { id: Type.Integer({ description: 'Given out once and never again.', examples: [1] }), ...fields },
  { title: 'Hero' }
)
/** A client may send an `id` of any kind; it is discarded. */
export const HeroInput = Type.Object(
  { id: Type.Optional(Type.Unknown({ description: 'Ignored, whatever it is.' })), ...fields },
  { title: 'NewHero', additionalProperties: false }
)

/** The keys that an answer shows. */
export const SHOWN_KEYS: readonly string[] = Object.keys(HeroOutput.properties)

export type HeroOperation = Omit<Operation, 'tag' | 'security'>

/** What routes that read heroes, or those that write them, have in common. */
export interface HeroAccess {
  /** Passes every request where the routes ask for no token. */
  readonly check: BearerCheck
  /** The config of a route: what the document says of it, with its protection. */
  config(operation: HeroOperation): FastifyContextConfig
}

/**
 * Reads an integer of any length. Beyond the safe integers it is the nearest safe integer, which is no hero's id. Throws
 * `invalid_input`, which names what the text is.
 */
export const integer = (text: string, name: string): number => {
  if (!/^-?[0-9]+$/.test(text)) throw noInteger(name)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)))
}

export const noInteger = (name: string): DomainError => new DomainError('invalid_input', `${name} must be an integer`)
