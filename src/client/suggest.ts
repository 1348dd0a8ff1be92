// Names that other libraries use for the same option. The distance between two words does not find them.
const SYNONYMS = new Map([
  ["cwd", "directory"],
  ["db", "database"],
]);

// More edits than this make a different word.
const MOST_EDITS = 2;

/**
 * Returns the name that the caller probably meant: a shorter or longer form (`dataDir`, `environment`), or a name
 * with a typing error. Undefined if no name is similar.
 */
export function suggest(word: string, names: readonly string[]): string | undefined {
  const given = word.toLowerCase();
  const synonym = SYNONYMS.get(given);
  if (synonym !== undefined && names.includes(synonym)) return synonym;
  return closestByPrefix(given, names) ?? closestByEdits(given, names);
}

function closestByPrefix(given: string, names: readonly string[]) {
  const related = names.filter((name) => shareOfPrefix(given, name.toLowerCase()) >= 3);
  return related.sort((a, b) => shareOfPrefix(given, b.toLowerCase()) - shareOfPrefix(given, a.toLowerCase()))[0];
}

/** Length of the common part if one word begins with the other, else 0. */
function shareOfPrefix(a: string, b: string) {
  return a.startsWith(b) || b.startsWith(a) ? Math.min(a.length, b.length) : 0;
}

function closestByEdits(given: string, names: readonly string[]) {
  // No name is that long, and the distance takes time quadratic in the length.
  if (given.length > 40) return undefined;
  let best;
  // In a short word every letter counts: two edits make `id` of any word.
  let fewest = Math.min(MOST_EDITS, Math.floor(given.length / 2)) + 1;
  for (const name of names) {
    const edits = countEdits(given, name.toLowerCase());
    if (edits < fewest) [best, fewest] = [name, edits];
  }
  return best;
}

/** Number of insertions, deletions and replacements that convert one word into the other. */
function countEdits(a: string, b: string) {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number) {
  return row[index] as number;
}
