// A plugin that reports failures of tools, Provider Turns and sessions, for example to an error tracker.

/**
 * @param {(message: string, sessionID: string | undefined) => void} report
 * @returns {import("opencode-embedded").Plugin}
 */
export function errors(report) {
  return (host) => {
    const results = host.hooks.onToolResult(({ tool, error, sessionID }) => {
      if (error !== undefined) report(`${tool} failed: ${error}`, sessionID);
    });
    // A stream keeps the process alive, until the host is closed.
    const stopping = new AbortController();
    void follow(host, report, stopping.signal);
    return () => {
      results.dispose();
      stopping.abort();
    };
  };
}

/**
 * @param {import("opencode-embedded").OpenCodeHost} host
 * @param {(message: string, sessionID: string | undefined) => void} report
 * @param {AbortSignal} signal
 */
async function follow(host, report, signal) {
  try {
    for await (const event of host.events.subscribe({ signal })) {
      const { type, data } = event;
      if (type === "session.next.step.failed") report(`A turn failed: ${data.error.message}`, data.sessionID);
      if (type === "session.error") report(`A session failed: ${data.error.data.message}`, data.sessionID);
    }
  } catch (error) {
    if (!signal.aborted) report(`Errors are not reported any more: ${error}`, undefined);
  }
}
