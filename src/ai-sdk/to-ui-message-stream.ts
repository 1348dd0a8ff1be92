// `toUIMessageStream`: a run as a stream of a message of the AI SDK.

import { ChunkWriter } from "./ui-chunks.js";
import type { SessionRun } from "../index.js";
import type { OpenCodeUIMessageChunk } from "./ui-types.js";

/** Settings of a stream. */
export interface ToUIMessageStreamOptions {
  /**
   * The position after which the stream continues, from `metadata.opencode.after` of the message so far. The stream then
   * contains no chunk of the content before it. Default: the whole message.
   */
  readonly after?: number | undefined;
}

/**
 * Returns a run as a stream of chunks of one message of the AI SDK, for `createUIMessageStreamResponse`,
 * `readUIMessageStream` and `useChat`.
 *
 * `sessions.run` with the same `sessionID`, `id` and `prompt` follows the same work, also after a reload of the page or a
 * restart of the process. Its stream has the same message again, from the beginning or after a position.
 *
 * A cancelled stream does not stop the run; `run.abort()` does. A run that cannot begin gives a chunk `error`.
 *
 * @throws {TypeError} If `after` is not a whole number from 0 on.
 * @example
 * ```ts
 * const run = opencode.sessions.run({ sessionID, id, prompt, unanswered: "wait" })
 * return createUIMessageStreamResponse({ stream: toUIMessageStream(run) })
 * ```
 */
export function toUIMessageStream(
  run: SessionRun,
  options: ToUIMessageStreamOptions = {},
): ReadableStream<OpenCodeUIMessageChunk> {
  const { after = -1 } = options;
  if (!Number.isSafeInteger(after) || (options.after !== undefined && after < 0)) {
    throw new TypeError(`after must be a whole number from 0 on, got ${String(options.after)}`);
  }
  const chunks = readChunks(run, after);
  return new ReadableStream<OpenCodeUIMessageChunk>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function* readChunks(run: SessionRun, after: number): AsyncGenerator<OpenCodeUIMessageChunk, void> {
  try {
    const writer = new ChunkWriter(await run.sessionID, await run.messageID, after);
    yield writer.start();
    for await (const part of run) yield* writer.write(part);
  } catch (error) {
    yield { type: "error", errorText: error instanceof Error ? error.message : String(error) };
  }
}
