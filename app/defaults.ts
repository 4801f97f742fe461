// Defaults that settings share with `buildServer`, whose options another program may leave out.

/** Of `BODY_LIMIT`, in bytes: 10 MB. */
export const defaultBodyLimit = 10_485_760

/** Of `BODY_MEMORY`, in bytes: 256 MB, and never less than one body may have. */
export const defaultBodyMemory = (bodyLimit: number): number => Math.max(268_435_456, bodyLimit)

/** Of `SERVICE_NAME`. */
export const defaultServiceName = 'Heroes'

/** Of `KEEP_ALIVE_TIMEOUT`: nginx and AWS close idle connections after 60. */
export const defaultKeepAliveSeconds = 72
