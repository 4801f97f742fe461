// Loaded into a process of the service with `--import`: SIGUSR2 lets it collect its garbage. What is left is what it keeps.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  console.error('collected')
})
