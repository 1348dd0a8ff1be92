import type { Setup } from "../embedded/support";

const TIMES = new Set(["timestamp", "created", "updated", "completed", "ran", "timeCreated", "released"]);

/**
 * Replaces the parts of a value that differ between runs: ids, times, processes, folders and addresses become labels,
 * numbered in order of appearance. Cursors are replaced by their content.
 */
export function normalise(value: unknown, { root, model }: Setup): unknown {
  const labels = new Map<string, string>();
  const label = (id: string, kind: string) => {
    const known = labels.get(id) ?? `<${kind} ${labels.size + 1}>`;
    labels.set(id, known);
    return known;
  };
  const text = (given: string) =>
    given
      .replaceAll(root.slice(1), "<root>")
      .replaceAll(model.url, "<model>")
      .replace(/\b(ses|msg|evt|per|que|pty)_\w+/g, label)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>");
  const walk = (given: unknown, key?: string): unknown => {
    // Hashes of texts that contain folders.
    if (key === "baseline" || key === "sha256") return "<hash>";
    if (key === "pid") return "<process>";
    // Contains the id of a terminal.
    if (key === "title" && typeof given === "string" && given.startsWith("Terminal ")) return "<terminal>";
    if (typeof given === "number") return key !== undefined && TIMES.has(key) ? "<time>" : given;
    if (typeof given === "string") return key === "previous" || key === "next" ? walk(readCursor(given)) : text(given);
    if (Array.isArray(given)) return given.map((item) => walk(item));
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([name, member]) => [text(name), walk(member, name)]));
  };
  return walk(value);
}

function readCursor(cursor: string) {
  const { page, ...head } = JSON.parse(Buffer.from(cursor, "base64url").toString());
  const { anchor, ...from } = page.from;
  // The position of a message is its sequence. The position of a session is its id and its creation time.
  return { ...head, page: { ...page, from: { ...from, anchor: anchor.id ?? anchor } } };
}
