import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './bench.js'
import { CONTESTANTS, type Contestant } from './contestants.js'

const LINES = 30

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export const profileFolder = ({ folder }: Pick<Bench, 'folder'>, { name }: Contestant): string =>
  join(folder, 'profiles', name)

/** Lists where each profiled contestant has spent its time, without idle time, from its newest profile. */
export const printProfiles = (bench: Pick<Bench, 'folder'>): string =>
  Object.values(CONTESTANTS)
    .flatMap(contestant => {
      const file = newest(profileFolder(bench, contestant))
      return file === undefined ? [] : [`\n### ${contestant.name}: ${file}\n`, ...summarize(file)]
    })
    .join('\n')

const newest = (folder: string): string | undefined => {
  if (!existsSync(folder)) return undefined
  const files = readdirSync(folder).map(name => join(folder, name))
  return files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0]
}

const summarize = (file: string): string[] => {
  const { nodes, samples, timeDeltas }: Profile = JSON.parse(readFileSync(file, 'utf8'))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const functions = new Map<string, number>()
  const places = new Map<string, number>()
  let total = 0
  samples.forEach((id, index) => {
    const frame = frames.get(id)
    if (frame === undefined || frame.functionName === '(idle)') return
    const time = timeDeltas[index] ?? 0
    const place = placeOf(frame.url, frame.functionName)
    const line = frame.url === '' ? '' : ` ${frame.url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '')}:${frame.lineNumber + 1}`
    total += time
    functions.set(
      `${frame.functionName || '(anonymous)'}${line}`,
      (functions.get(`${frame.functionName || '(anonymous)'}${line}`) ?? 0) + time
    )
    places.set(place, (places.get(place) ?? 0) + time)
  })
  const list = (times: ReadonlyMap<string, number>, most: number): string[] =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(6)} %  ${name}`)
  return [...list(places, 12), '', ...list(functions, LINES)]
}

/** The package, the folder of this repository, or the part of Node or of its engine. */
const placeOf = (url: string, name: string): string => {
  if (url === '') return name.startsWith('(') ? name : 'native'
  if (url.startsWith('node:')) return url.replace(/^(node:(?:internal\/)?[^/]+).*$/, '$1')
  const [, dependency] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  return dependency ?? `Heroes ${/\/dist\/(core|app|adapters\/[^/]+|test\/bench)\//.exec(url)?.[1] ?? ''}`
}
