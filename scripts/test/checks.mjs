// The two common forms of a stage: a program that must succeed, and a list of checks.

import { messageOf } from "../lib/failure.mjs";
import { run } from "../lib/process.mjs";

/** Lines of cargo and of its tests that only report progress or success. */
const NOISE = [
  /^\s*(Compiling|Checking|Downloading|Downloaded|Blocking|Updating|Locking|Adding|Finished|Running) /,
  /^test .* \.\.\. ok$/,
];

/** Time limit for a small program on a very busy machine, in milliseconds. */
export const TIME_LIMIT_MS = 600_000;

/**
 * A stage with one check: the program exits with 0.
 *
 * @param {string} title
 * @param {() => readonly string[]} command
 * @returns {import("./report.mjs").Stage}
 */
export function programStage(title, command) {
  return {
    title,
    async run(say) {
      const { code, output } = await run(command(), { onLine: say });
      if (code === 0) return { passed: 1, failures: [] };
      return { passed: 0, failures: [{ name: title, detail: withoutNoise(output) }] };
    },
  };
}

/**
 * Runs checks one after the other. A check fails if it throws.
 *
 * @param {Iterable<readonly [name: string, check: () => unknown]>} checks
 * @param {(line: string) => void} say
 * @returns {Promise<import("./report.mjs").Result>}
 */
export async function runChecks(checks, say) {
  /** @type {import("./report.mjs").Result} */
  const result = { passed: 0, failures: [] };
  for (const [name, check] of checks) {
    say(name);
    try {
      await check();
      result.passed += 1;
    } catch (error) {
      result.failures.push({ name, detail: messageOf(error) });
    }
  }
  return result;
}

/** @param {string} output */
export function withoutNoise(output) {
  return output
    .split("\n")
    .filter((line) => !NOISE.some((noise) => noise.test(line)))
    .join("\n");
}

/**
 * Runs a program that must succeed, as a part of a check. Returns its standard output.
 *
 * @param {readonly string[]} command
 * @param {import("../lib/process.mjs").RunOptions} [options]
 */
export async function mustRun(command, options) {
  const { code, stdout, output } = await run(command, { timeoutMs: TIME_LIMIT_MS, ...options });
  if (code !== 0) throw new Error(`exit code ${code}\n${withoutNoise(output)}`);
  return stdout;
}

/**
 * @param {string} text
 * @param {string} part
 */
export function mustContain(text, part) {
  if (!text.includes(part)) throw new Error(`Expected ${JSON.stringify(part)} in:\n${text}`);
}

/** @param {readonly string[]} problems */
export function mustBeEmpty(problems) {
  if (problems.length > 0) throw new Error(problems.join("\n"));
}
