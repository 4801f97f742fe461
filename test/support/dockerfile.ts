// Does what a Dockerfile says without Docker: each stage is a folder, and each RUN a command of this machine.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What a Dockerfile makes: the folder of its last stage, and how a container of it runs. */
export interface Image {
  /** The folder that WORKDIR names, in the last stage. */
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly volumes: readonly string[]
  /** Paths that were copied for another user than root, by the user. */
  readonly owned: ReadonlyMap<string, string>
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

interface Stage {
  readonly root: string
  workdir: string
}

/**
 * Builds from the folder `context`, without what the ignore file names, in a folder of its own for each stage. `instead` has commands
 * that are run in place of others, as they take less time to come to the same.
 */
export const buildImage = (
  dockerfile: string,
  context: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  instead: Readonly<Record<string, string>>
): Image => {
  const ignored = new Set(readFileSync(`${dockerfile}.dockerignore`, 'utf8').trim().split('\n'))
  const stages = new Map<string, Stage>()
  let stage: Stage = { root: '', workdir: '/' }
  let image: Image = {
    workdir: '',
    env: {},
    user: 'root',
    volumes: [],
    owned: new Map(),
    command: [],
    healthcheck: []
  }
  const inside = (path: string, { root, workdir } = stage): string =>
    path.startsWith('/') ? join(root, path) : join(root, workdir, path)

  const copy = (words: readonly string[]): void => {
    const flags = Object.fromEntries(words.filter(word => word.startsWith('--')).map(word => word.slice(2).split('=')))
    const paths = words.filter(word => !word.startsWith('--'))
    const target = paths.pop() ?? ''
    const from = flags.from === undefined ? undefined : stages.get(flags.from)
    for (const path of paths) {
      const source = from === undefined ? join(context, path) : inside(path, from)
      const whole = statSync(source).isDirectory()
      const names = whole ? readdirSync(source).filter(name => from !== undefined || !ignored.has(name)) : ['']
      for (const name of names) {
        const into = join(inside(target), whole ? name : target.endsWith('/') ? basename(path) : '')
        cpSync(join(source, name), into, { recursive: true, verbatimSymlinks: true })
      }
      if (whole) mkdirSync(inside(target), { recursive: true })
      if (flags.chown !== undefined)
        image = { ...image, owned: new Map([...image.owned, [inside(target), flags.chown]]) }
    }
  }

  for (const line of readFileSync(dockerfile, 'utf8').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    const words = rest.split(' ')
    switch (instruction) {
      case 'FROM':
        stage = { root: join(folder, `stage${stages.size}`), workdir: '/' }
        stages.set(words[2] ?? '', stage)
        image = { ...image, env: {}, user: 'root' }
        break
      case 'WORKDIR':
        stage.workdir = rest
        mkdirSync(inside('.'), { recursive: true })
        image = { ...image, workdir: inside('.') }
        break
      case 'COPY':
        copy(words)
        break
      case 'RUN': {
        const ran = spawnSync('sh', ['-c', instead[rest] ?? rest], { cwd: inside('.'), env, encoding: 'utf8' })
        if (ran.status !== 0) throw new Error(`${rest}: ${ran.stderr}`)
        break
      }
      case 'ENV':
        image = { ...image, env: Object.fromEntries(words.map(word => word.split('='))) }
        break
      case 'USER':
        image = { ...image, user: rest }
        break
      case 'VOLUME':
        image = { ...image, volumes: [...image.volumes, inside(rest)] }
        break
      case 'CMD':
        image = { ...image, command: JSON.parse(rest) }
        break
      case 'HEALTHCHECK':
        image = { ...image, healthcheck: JSON.parse(rest.slice(rest.indexOf('['))) }
        break
      case 'EXPOSE':
        break
      default:
        throw new Error(`this is no instruction that is understood here: ${line}`)
    }
  }
  return image
}
