import type { LogEntry } from "../../index.js";

/** Records the log entries of a host. */
export function recorder() {
  const entries: LogEntry[] = [];
  let taken = () => {};
  const log = (entry: LogEntry) => {
    entries.push(entry);
    taken();
  };
  /** Waits for an entry that satisfies the predicate. */
  const find = async (fits: (entry: LogEntry) => boolean) => {
    for (;;) {
      const found = entries.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (taken = resolve));
    }
  };
  /** Waits for an entry with this message. */
  const waitForMessage = (message: string) => find((entry) => entry.message === message);
  return { entries, find, log, waitForMessage };
}
