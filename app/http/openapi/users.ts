import { examplePassword } from '../example-password.js'
import type { Operations, Setup } from './operation.js'
import { OF_BODIES, OF_EVERY_REQUEST, OF_JSON, OF_STORES } from './refusals.js'

export const users = ({ registrationOpen, passwordMinLength }: Setup): Operations => ({
  'POST /register': {
    operationId: 'registerUser',
    tag: 'Users',
    summary: 'Register a user',
    description: registrationOpen
      ? 'Registers a user, who can log in from then on. The password is stored as a salted hash alone.'
      : 'Registration is closed: every request is 403. The people who run this service register users.',
    security: [],
    bodyExamples: {
      ada: { summary: 'A user', value: { username: 'ada', password: examplePassword(passwordMinLength) } }
    },
    answers: registrationOpen
      ? {
          200: {
            description: 'The user with its id.',
            examples: { ada: { summary: 'A user', value: { id: 1, username: 'ada' } } }
          }
        }
      : {},
    refusals: registrationOpen
      ? [
          ...OF_EVERY_REQUEST,
          ...OF_BODIES,
          ...OF_JSON,
          'noObject',
          'withoutUsername',
          'withoutPassword',
          'userWithMore',
          'usernameOfOtherType',
          'passwordOfOtherType',
          'usernameOfOtherLength',
          'passwordOfOtherLength',
          'usernameTaken',
          'tooManyRegistrations',
          ...OF_STORES,
          'tooManyHashes'
        ]
      : [...OF_EVERY_REQUEST, 'registrationClosed']
  }
})
