/** The package has no types of its own. */
declare module 'fs-native-extensions' {
  /** False when another open file holds the lock. Needs a file that is open for writing. */
  export function tryLock(fileDescriptor: number): boolean
}
