// Names other libraries give to the same thing, which no measure of likeness would find.
const SYNONYMS = new Map([
  ["cwd", "directory"],
  ["db", "database"],
]);

// More changes than this make another word.
const MOST_EDITS = 2;

/**
 * The name that was probably meant: a shortened or lengthened one (`dataDir`, `environment`), or one with a
 * slip of the keyboard in it. Undefined when none is near.
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

/** How much of it the two have in common, when one of them begins with the other; otherwise 0. */
function shareOfPrefix(a: string, b: string) {
  return a.startsWith(b) || b.startsWith(a) ? Math.min(a.length, b.length) : 0;
}

function closestByEdits(given: string, names: readonly string[]) {
  // No name is that long, and the measure takes time quadratic in the length.
  if (given.length > 40) return undefined;
  let best;
  // In a short word every letter counts: two changes make `id` of anything.
  let fewest = Math.min(MOST_EDITS, Math.floor(given.length / 2)) + 1;
  for (const name of names) {
    const edits = countEdits(given, name.toLowerCase());
    if (edits < fewest) [best, fewest] = [name, edits];
  }
  return best;
}

/** Insertions, deletions and replacements that turn one word into the other. */
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
