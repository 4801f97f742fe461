/** Does as `work` does, but rejects when it takes longer, and then also calls `expire`. */
export const orConnectTimeout = <T>(seconds: number, work: Promise<T>, expire = (): void => {}): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(connectTimeout(seconds))
      expire()
    }, seconds * 1000)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

export const connectTimeout = (seconds: number): Error =>
  Object.assign(new Error(`no connection within ${seconds} s`), { code: 'CONNECT_TIMEOUT' })
