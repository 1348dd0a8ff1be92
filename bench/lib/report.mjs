/**
 * Prints the figures of one bench as a line of JSON. Returns false if the median is past its budget.
 *
 * @param {string} bench
 * @param {string} unit
 * @param {number[]} samples
 * @param {{ atMost?: number, atLeast?: number }} [budget]
 */
export function report(bench, unit, samples, budget = {}) {
  const sorted = sort(samples);
  const round = (value) => Number(value.toPrecision(4));
  const middle = median(samples);
  const { atMost, atLeast } = budget;
  const within = (atMost === undefined || middle <= atMost) && (atLeast === undefined || middle >= atLeast);
  const line = {
    bench,
    unit,
    median: round(middle),
    min: round(sorted[0]),
    max: round(sorted.at(-1)),
    runs: sorted.length,
  };
  if (atMost !== undefined) Object.assign(line, { budget: `<= ${atMost}`, within });
  if (atLeast !== undefined) Object.assign(line, { budget: `>= ${atLeast}`, within });
  console.log(JSON.stringify(line));
  return within;
}

/** Milliseconds that `work` takes. */
export async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(samples) {
  return sort(samples)[Math.floor(samples.length / 2)];
}

function sort(samples) {
  return [...samples].sort((a, b) => a - b);
}
