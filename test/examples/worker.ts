// Heroes in a worker thread: the hashes, the look-ups and the rest of the core leave the thread of the server alone.
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { Answer, Asked } from './endpoints.js'
import { openHeroes } from './open.js'

/** Starts the thread. Its `answer` takes what the function of the same name in endpoints.ts takes. */
export const startWorker = async (databaseUrl: string | undefined) => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { databaseUrl } })
  const waiting = new Map<number, (answer: Answer) => void>()
  let last = 0
  await once(worker, 'message')
  worker.on('message', ({ id, answer }: { readonly id: number; readonly answer: Answer }) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  return {
    answer: (asked: Asked): Promise<Answer> =>
      new Promise(resolve => {
        last += 1
        waiting.set(last, resolve)
        worker.postMessage({ id: last, asked })
      }),
    /** Resolves when the thread has closed its stores and ended. */
    async close(): Promise<void> {
      worker.postMessage('close')
      await once(worker, 'exit')
    }
  }
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort
  const { answer, close } = await openHeroes(workerData.databaseUrl)
  port.on('message', async (message: 'close' | { readonly id: number; readonly asked: Asked }) => {
    if (message === 'close') {
      await close()
      port.close()
    } else {
      port.postMessage({ id: message.id, answer: await answer(message.asked) })
    }
  })
  port.postMessage('ready')
}
