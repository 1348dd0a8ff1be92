// A plugin that writes each tool call into a log, with its duration.

/**
 * @param {(line: string) => void} write
 * @returns {import("opencode-embedded").Plugin}
 */
export function audit(write) {
  return (host) => {
    /** @type {Map<string, number>} */
    const begun = new Map();
    const calls = host.hooks.onToolCall(({ sessionID, callID }) => {
      begun.set(`${sessionID}/${callID}`, Date.now());
    });
    const results = host.hooks.onToolResult(({ sessionID, callID, tool, error }) => {
      const key = `${sessionID}/${callID}`;
      const duration = Date.now() - (begun.get(key) ?? Date.now());
      begun.delete(key);
      write(`${tool} ${error === undefined ? "succeeded" : "failed"} after ${duration} ms`);
    });
    return () => {
      calls.dispose();
      results.dispose();
    };
  };
}
