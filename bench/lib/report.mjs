/**
 * Prints the figures of one bench.
 *
 * @param {string} bench
 * @param {string} unit
 * @param {number[]} samples
 * @param {{ atMost?: number, atLeast?: number }} [budget]
 */
export function report(bench, unit, samples, budget = {}) {
  const sorted = [...samples].sort((a, b) => a - b)
  const round = (value) => Number(value.toPrecision(4))
  const median = sorted[Math.floor(sorted.length / 2)]
  const { atMost, atLeast } = budget
  const within = (atMost === undefined || median <= atMost) && (atLeast === undefined || median >= atLeast)
  const line = { bench, unit, median: round(median), min: round(sorted[0]), max: round(sorted.at(-1)), runs: sorted.length }
  if (atMost !== undefined) Object.assign(line, { budget: `<= ${atMost}`, within })
  if (atLeast !== undefined) Object.assign(line, { budget: `>= ${atLeast}`, within })
  console.log(JSON.stringify(line))
}

/** Milliseconds that `work` takes. */
export async function time(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}
