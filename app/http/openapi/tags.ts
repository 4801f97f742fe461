/** The groups of operations, in the order of the document. */
export const tags = [
  { name: 'Heroes', description: 'Hero records: list, search, fetch, create, rename and delete them.' },
  { name: 'Users', description: 'The people who log in.' },
  { name: 'Tokens', description: 'Getting, checking and ending tokens, as OAuth 2.0 (RFC 6749) has it.' },
  { name: 'Login page', description: 'What people see in a browser on the way to an authorization code.' },
  { name: 'Service', description: 'What load balancers, client libraries and readers of this document ask.' },
  { name: 'Documentation', description: 'The interactive page that shows this document, and what it is made of.' }
] as const

export type Tag = (typeof tags)[number]['name']
