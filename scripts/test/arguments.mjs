// The words behind `npm test --`.

import { Failure } from "../lib/failure.mjs";

/**
 * Reads which stages to run. The name of a stage begins it; any other word filters the stage before it.
 *
 * @param {readonly string[]} words
 * @param {Readonly<Record<string, { takesFilters?: boolean }>>} stages All there are, by name.
 * @returns {Map<string, string[]>} The filters of each chosen stage; empty when no stage is named.
 */
export function parseStages(words, stages) {
  /** @type {Map<string, string[]>} */
  const chosen = new Map();
  let last = "";
  for (const word of words) {
    if (Object.hasOwn(stages, word)) {
      last = word;
      chosen.set(word, chosen.get(word) ?? []);
    } else if (last === "") {
      throw new Failure(`There is no stage ${word}; there are ${Object.keys(stages).join(", ")}`);
    } else if (!stages[last]?.takesFilters) {
      const filtered = Object.keys(stages).filter((name) => stages[name]?.takesFilters);
      throw new Failure(`${word} is no stage, and ${last} cannot be filtered; ${filtered.join(", ")} can`);
    } else {
      chosen.get(last)?.push(word);
    }
  }
  return chosen;
}
