// Collects and prints the results of the stages.

import { messageOf } from "../lib/failure.mjs";
import { bold, dim, formatDuration, green, red, startProgress } from "../lib/terminal.mjs";

/**
 * @typedef {{ name: string, detail: string }} Problem
 * @typedef {{ passed: number, failures: Problem[], note?: string }} Result
 * @typedef {object} Stage
 * @property {string} title
 * @property {boolean} [takesFilters] True if words after its name select a part of it.
 * @property {(say: (line: string) => void, filters: readonly string[]) => Promise<Result>} run
 */

/** Number of lines of a problem that are shown, half of them from its end. */
const SHOWN_LINES = 200;

export class Report {
  passed = 0;
  failed = 0;
  #began = performance.now();
  /** @type {{ name: string, reason: string }[]} */
  #failures = [];

  /**
   * Runs a stage and counts its results. A stage that throws counts as a failure.
   *
   * @param {Stage} stage
   * @param {readonly string[]} filters
   */
  async run({ title, run }, filters) {
    const progress = startProgress(bold(title));
    /** @type {Result} */
    let result;
    try {
      result = await run(progress.say, filters);
    } catch (error) {
      result = { passed: 0, failures: [{ name: title, detail: messageOf(error) }] };
    }
    const took = progress.end();
    const { passed, failures, note = "" } = result;
    this.passed += passed;
    this.failed += failures.length;
    const mark = failures.length === 0 ? green("ok    ") : red("FAILED");
    console.log(
      `${mark}  ${title}  ${count(passed, failures.length)}  ${dim([formatDuration(took), note].join("  "))}`,
    );
    for (const { name, detail } of failures) {
      this.#failures.push({ name: `${title}: ${name}`, reason: detail.trim().split("\n", 1)[0] ?? "" });
      console.log(`${red(`  ${name}`)}\n${indent(shorten(detail))}`);
    }
  }

  /** Prints all failures again, each with the first line of its text, and the last line. */
  print() {
    console.log(`\n${dim(`in ${formatDuration(performance.now() - this.#began)}`)}`);
    for (const { name, reason } of this.#failures) console.log(`${red("FAILED")}  ${name}\n${indent([reason])}`);
    console.log(count(this.passed, this.failed));
  }
}

/**
 * @param {number} passed
 * @param {number} failed
 */
function count(passed, failed) {
  return `${passed} passed, ${failed} failed`;
}

/** @param {string} text */
function shorten(text) {
  const lines = text.trim().split("\n");
  if (lines.length <= SHOWN_LINES) return lines;
  const left = lines.length - SHOWN_LINES;
  return [...lines.slice(0, SHOWN_LINES / 2), `… ${left} lines …`, ...lines.slice(-SHOWN_LINES / 2)];
}

/** @param {string[]} lines */
function indent(lines) {
  return lines.map((line) => `    ${line}`).join("\n");
}
