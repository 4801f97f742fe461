/** How many times as many random cases a suite tries as `npm test` does. */
export const EFFORT = Number(process.env.TEST_EFFORT ?? 1)
