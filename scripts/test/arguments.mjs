// The words after `npm test --`.

import { Failure } from "../lib/failure.mjs";

/**
 * Reads the stages to run. The name of a stage selects it. Any other word is a filter of the stage before it.
 *
 * @param {readonly string[]} words
 * @param {Readonly<Record<string, { takesFilters?: boolean }>>} stages All stages, by name.
 * @returns {Map<string, string[]>} The filters of each selected stage. Empty if no stage is named.
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
      throw new Failure(`Unknown stage ${word}. Use one of ${Object.keys(stages).join(", ")}`);
    } else if (!stages[last]?.takesFilters) {
      const filtered = Object.keys(stages).filter((name) => stages[name]?.takesFilters);
      throw new Failure(
        `Unknown stage ${word}, and the stage ${last} takes no filters. Only ${filtered.join(", ")} take filters`,
      );
    } else {
      chosen.get(last)?.push(word);
    }
  }
  return chosen;
}
