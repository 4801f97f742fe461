import { setTimeout } from 'node:timers/promises'

/** Leaves PostgreSQL to others for as long as it has worked since `startedAt`, by `performance.now()`. */
export const restSince = (startedAt: number): Promise<void> => setTimeout(performance.now() - startedAt)
