// The public types of the client that are written by hand.

import type { ClientError } from "./errors.js";
import type { OpenCodeOperations, ServiceUnavailableError } from "./generated/types.js";
import type { InferRunOutput, RunInput, RunOutput, SessionRun } from "./run/types.js";

/** The argument of `new Headers(...)`: a `Headers`, a list of pairs, or a record. */
export type HeadersInput = NonNullable<ConstructorParameters<typeof Headers>[0]>;

/** Settings of one call. They are never part of the input. */
export interface RequestOptions {
  /**
   * Cancels the call. It rejects with `ClientError("Transport")`, whose `cause` is the reason of the signal. A stream
   * closes at once. If the signal is already aborted, nothing is sent.
   */
  readonly signal?: AbortSignal | null | undefined;
  /** Headers of this call. They take precedence over the headers of the client. */
  readonly headers?: HeadersInput | undefined;
}

/**
 * A bounded part of a longer list.
 *
 * To walk the list Page by Page, pass `next` as `cursor` until `items` is empty. Keep the last cursor to request
 * later items. Both cursors are absent on an empty Page.
 */
export interface Page<T, Cursor extends string = string> {
  /** The items, in the order of the first query. Both cursors keep this order. */
  readonly items: readonly T[];
  /** The cursor of the items before the first one of this Page. */
  readonly previous?: Cursor;
  /** The cursor of the items after the last one of this Page. */
  readonly next?: Cursor;
}

/**
 * The result of a method that lists in Pages. `await` returns the first Page. `for await` returns the items of all
 * Pages, and requests each Page when it needs it. A failed request ends the iteration with its failure.
 *
 * @example
 * ```ts
 * const page = await opencode.sessions.list({ limit: 20 })
 *
 * for await (const session of opencode.sessions.list()) console.log(session.title)
 * ```
 */
export interface PagePromise<P extends Page<unknown>> extends Promise<P>, AsyncIterable<P["items"][number]> {}

/**
 * Lines of text, in order. Each line is one JSON text. The source is the result of `sessions.export`, an array, the
 * lines of a file from `readline` or `FileHandle.readLines()`, or one string. The line feed at the end of a line is
 * optional.
 *
 * The client sends them as one body and keeps it in memory. With more than 256 MiB of text the call rejects with
 * `InvalidRequestError`, and nothing is sent. If the source throws, the call rejects with the thrown value.
 */
export type Lines = string | Iterable<string> | AsyncIterable<string>;

/**
 * The reason why a call has no declared answer.
 *
 * - `Transport`: the request was not sent, its answer did not arrive in full, or it was aborted. `cause`
 *   is the error of `fetch`, the reason of the signal, or the failure that a stream reported.
 * - `UnexpectedStatus`: the operation does not declare this status, or its body is no failure of
 *   the contract. `cause` is `{ status }`.
 * - `UnsupportedContentType`: the body has another form than the operation declares (JSON, event stream or lines).
 *   `cause` is `{ status, contentType }`.
 * - `MalformedResponse`: the body is empty, cannot be parsed, or has the wrong form, or one event or line is larger
 *   than 256 MiB.
 */
export type ClientErrorReason = "Transport" | "UnexpectedStatus" | "UnsupportedContentType" | "MalformedResponse";

/** A client: the operations of the HTTP contract, and `sessions.run`, which uses them. */
export interface OpenCodeClient extends OpenCodeOperations {
  readonly sessions: OpenCodeOperations["sessions"] & {
    /**
     * Prompts a session and follows the work on this prompt to its outcome. Without `sessionID` it creates a session.
     *
     * A run always ends: with the first turn after which the model waits for nothing. Other prompts of the session
     * neither end it nor appear in it. `signal` stops the work, as `abort()` does.
     *
     * @example
     * ```ts
     * for await (const part of opencode.sessions.run({ prompt: "What does src/main.ts do?" })) {
     *   if (part.type === "text") process.stdout.write(part.text)
     * }
     *
     * const { outcome, text } = await opencode.sessions.run({ prompt: "Summarise README.md" }).result
     * ```
     */
    run<const Output extends RunOutput | undefined = undefined>(
      input: RunInput<Output>,
      options?: RequestOptions,
    ): SessionRun<InferRunOutput<Output>>;
  };
}

/** Settings of `createClient`. */
export interface ClientOptions {
  /**
   * The absolute URL of the server. Its path is the prefix of the path of every operation. Its query and fragment are
   * ignored. Its user and password, as in `listener.clientUrl`, become the header `authorization`, unless `headers` has
   * one. No failure shows them.
   */
  readonly baseUrl: string;
  /**
   * The function that sends the requests, such as the `fetch` of a host. Default: the global `fetch` at the creation
   * of the client.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Headers of every request, such as `authorization`. Default: none. */
  readonly headers?: HeadersInput | undefined;
}

/** The part of a client that `resumeEvents` uses. Every client and every host has it. */
export interface ResumableClient {
  readonly sessions: Pick<OpenCodeOperations["sessions"], "events">;
}

/** Settings of `resumeEvents`. */
export interface ResumeEventsOptions {
  /** The session. */
  readonly sessionID: string;
  /** The sequence after which to begin. Default: the beginning of the session. */
  readonly after?: number | undefined;
  /** Ends the iteration, also while it waits to reconnect, with `ClientError("Transport")` and the reason as `cause`. */
  readonly signal?: AbortSignal | null | undefined;
  /** Headers of every connection. They take precedence over the headers of the client. */
  readonly headers?: HeadersInput | undefined;
  /**
   * Delay in milliseconds before the first connection after a failure, from 1 on. Every further failure doubles it, up
   * to `maxDelayMs`. The actual delay is a random part of it, at least the half. Default: 250, or `maxDelayMs` if that
   * is less.
   */
  readonly minDelayMs?: number | undefined;
  /** The longest delay in milliseconds, 2147483647 at most. Default: 10000, or `minDelayMs` if that is more. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Maximum number of consecutive reconnections without an event. The failure after the last one ends the iteration.
   * With 0 the client never reconnects. Default: `Infinity`.
   */
  readonly maxRetries?: number | undefined;
  /** A function that receives each failure before the delay. If it throws, the iteration ends with the thrown value. */
  readonly onRetry?: ((retry: EventsRetry) => void) | undefined;
}

/** A failed connection and the next attempt of `resumeEvents`. */
export interface EventsRetry {
  /** The failure of the last attempt. */
  readonly failure: ClientError | ServiceUnavailableError;
  /** The number of the reconnection since the last event, from 1 on. */
  readonly retry: number;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
  /** The sequence of the last event, after which the stream continues. Undefined: the beginning of the session. */
  readonly after: number | undefined;
}

/**
 * A page or a document that an answer cites. `citedSources` returns those of an answer; a host stores at
 * most 256.
 */
export type CitedSource =
  | {
      readonly type: "url";
      /** The address of the page: `http` or `https`, at most 8 KiB. */
      readonly url: string;
      readonly title?: string | undefined;
    }
  | {
      readonly type: "document";
      /** The identifier of the document at the provider. */
      readonly id?: string | undefined;
      readonly title?: string | undefined;
      readonly filename?: string | undefined;
      /** The MIME type. */
      readonly mediaType?: string | undefined;
    };
