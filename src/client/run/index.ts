import { createStream } from "../stream.js";
import { RunFeed } from "./feed.js";
import { LiveEvents } from "./live.js";
import { Run } from "./run.js";
import type { OpenCodeOperations } from "../generated/types.js";
import type { OpenCodeClient, RequestOptions } from "../types.js";
import type { InferRunOutput, RunInput, RunNeedsInput, RunOutput, RunPart, SessionRun } from "./types.js";

// Long enough for a user at the terminal, short enough for a script.
const DENY_AFTER_MS = 60_000;

/**
 * Adds `sessions.run` to a client. It uses the operations of the client.
 *
 * @param isAnswered True if the host answers requests of a kind or limits their wait. Then a run waits by default.
 */
export function addRuns(
  operations: OpenCodeOperations,
  isAnswered: (kind: RunNeedsInput["kind"]) => boolean = () => false,
): OpenCodeClient {
  const sessions = { ...operations.sessions, run };
  const client: OpenCodeClient = { ...operations, sessions };
  const shared = new LiveEvents(client, undefined);

  function run<Output extends RunOutput | undefined>(
    input: RunInput<Output>,
    options: RequestOptions = {},
  ): SessionRun<InferRunOutput<Output>> {
    // Headers belong to one run, so such a run has its own live stream.
    const live = (options.headers ?? undefined) === undefined ? shared : new LiveEvents(client, options.headers);
    const unanswered = (kind: RunNeedsInput["kind"]) =>
      input.unanswered ?? (isAnswered(kind) ? "wait" : { denyAfterMs: DENY_AFTER_MS });
    // The schema of the input checks the output at run time.
    return present(new Run(client, live, input, options, unanswered)) as SessionRun<InferRunOutput<Output>>;
  }

  return client;
}

function present(run: Run): SessionRun {
  const parts: AsyncIterable<RunPart> = createStream(async () => new RunFeed(run, await run.begun), undefined);
  return {
    result: run.result,
    text: handled(run.result.then(({ text }) => text)),
    sessionID: handled(run.begun.then(({ sessionID }) => sessionID)),
    messageID: handled(run.begun.then(({ messageID }) => messageID)),
    abort: () => run.abort(),
    [Symbol.asyncIterator]: () => parts[Symbol.asyncIterator](),
  };
}

/** A promise that the caller may ignore. */
function handled<T>(promise: Promise<T>) {
  promise.catch(() => {});
  return promise;
}
