import { startTimer } from './timer.js'

/** Does as `work` does, but rejects when it takes longer, and then also calls `expire`. */
export const orConnectTimeout = <T>(seconds: number, work: Promise<T>, expire = (): void => {}): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = startTimer(seconds * 1000, () => {
      reject(connectTimeout(seconds))
      expire()
    })
    work.then(resolve, reject).finally(stop)
  })

export const connectTimeout = (seconds: number): Error =>
  Object.assign(new Error(`no connection within ${seconds} s`), { code: 'CONNECT_TIMEOUT' })
