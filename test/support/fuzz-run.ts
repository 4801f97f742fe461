// npm run fuzz -- [COUNT] [SEED] [FIRST]: runs COUNT cases of SEED, from number FIRST on.

import { fuzz } from './fuzz.js'

const [count = 100_000, seed = Date.now() % 1_000_000, first = 0] = process.argv.slice(2).map(Number)
const { answers, failures } = await fuzz(count, seed, first)
for (const failure of failures.slice(0, 20)) console.error(failure)
console.log(`${count} cases of seed ${seed}: ${answers} answers, ${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1
