/**
 * The key of a schema under which keywords stand that the OpenAPI document shows and no validator sees. The core judges
 * what they say, with texts of its own and after the order of refusals.
 */
export const DOCUMENTED = Symbol('documented')
