// The public types of the client that are written by hand.

import type { ClientError } from "./errors.js";
import type { OpenCodeOperations, ServiceUnavailableError } from "./generated/types.js";
import type { RunInput, SessionRun } from "./run/types.js";

/** The argument of `new Headers(...)`: a `Headers`, a list of pairs, or a record. */
export type HeadersInput = NonNullable<ConstructorParameters<typeof Headers>[0]>;

/** Settings of one call. They are never part of the input. */
export interface RequestOptions {
  /**
   * Gives the call up. It rejects with `ClientError("Transport")` whose `cause` is the reason of the
   * signal; a stream is closed at once. A signal that is already aborted sends nothing.
   */
  readonly signal?: AbortSignal | null | undefined;
  /** Headers of this call. They win over the headers of the client. */
  readonly headers?: HeadersInput | undefined;
}

/**
 * A bounded part of a longer list.
 *
 * To walk the list Page by Page, pass `next` as `cursor` until `items` is empty. Keep the last cursor to request
 * later items. Both cursors are absent on an empty Page.
 */
export interface Page<T, Cursor extends string = string> {
  /** The items, in the order of the query that began the walk, whichever cursor led here. */
  readonly items: readonly T[];
  /** Leads to the items before the first one of this page. */
  readonly previous?: Cursor;
  /** Leads to the items after the last one of this page. */
  readonly next?: Cursor;
}

/**
 * The answer of a method that lists in Pages. Awaited, it is the first Page. Iterated, it gives the items of all
 * Pages from the first one on, and requests each Page when it is needed. A failed request ends the iteration with its
 * failure.
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
 * Lines of text, in order, each one JSON text: what `sessions.export` gives, an array, the lines of a file as
 * `readline` or `FileHandle.readLines()` read them, or the whole as one string. The line feed at the end of a
 * line may be there or not.
 *
 * They are sent as one body and so held in memory, 256 MiB of text at most; beyond that the call rejects with
 * an `InvalidRequestError` and nothing is sent. What their source throws, the call rejects with.
 */
export type Lines = string | Iterable<string> | AsyncIterable<string>;

/**
 * Why a call brought back no declared answer.
 *
 * - `Transport`: the request was not sent, its answer did not arrive in full, or it was aborted. `cause`
 *   is what broke it: the error of `fetch`, the reason of the signal, or what a stream reported.
 * - `UnexpectedStatus`: the operation does not declare this status, or the body that came with it is no failure of
 *   the contract. `cause` is `{ status }`.
 * - `UnsupportedContentType`: the body is not JSON, or not an event stream, or has no lines, whichever the
 *   operation answers with. `cause` is `{ status, contentType }`.
 * - `MalformedResponse`: the body is empty, cannot be parsed, or has the wrong form; or one event or one line
 *   of it is larger than 256 MiB.
 */
export type ClientErrorReason = "Transport" | "UnexpectedStatus" | "UnsupportedContentType" | "MalformedResponse";

/** A client: the operations of the HTTP contract, and `sessions.run`, which is made of them. */
export interface OpenCodeClient extends OpenCodeOperations {
  readonly sessions: OpenCodeOperations["sessions"] & {
    /**
     * Prompts a session and follows the work on this prompt to its outcome. Without `sessionID` it creates a session.
     *
     * It always ends. Prompts beside it neither end it nor are mixed into it: it ends with the first turn after which
     * the model waits for nothing. `signal` stops the work, as `abort()` does.
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
    run(input: RunInput, options?: RequestOptions): SessionRun;
  };
}

/** Settings of `createClient`. */
export interface ClientOptions {
  /**
   * Where the server is: an absolute URL. A path in it stands before the path of every operation; a query
   * or a fragment is ignored. A user and a password in it, as in `listener.clientUrl`, become the header
   * `authorization`, unless `headers` has one. No failure shows them.
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
  /** Headers of every connection. They win over the headers of the client. */
  readonly headers?: HeadersInput | undefined;
  /**
   * Milliseconds before the first connection after a failure, from 1 on. Every further failure doubles them, up
   * to `maxDelayMs`; of the result a random part between a half and the whole is waited. Default: 250, or
   * `maxDelayMs` if that is less.
   */
  readonly minDelayMs?: number | undefined;
  /** The longest delay in milliseconds, 2147483647 at most. Default: 10000, or `minDelayMs` if that is more. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Reconnections in a row without an event in between; the failure after the last one ends the iteration. 0 never
   * reconnects. Default: `Infinity`, which goes on until the iteration is left or aborted.
   */
  readonly maxRetries?: number | undefined;
  /** Is told of every failure before the delay that follows it. What it throws ends the iteration. */
  readonly onRetry?: ((retry: EventsRetry) => void) | undefined;
}

/** A connection that failed, and what `resumeEvents` does about it. */
export interface EventsRetry {
  /** The failure of the last attempt. */
  readonly failure: ClientError | ServiceUnavailableError;
  /** Counts the reconnections since the last event, from 1 on. */
  readonly retry: number;
  /** Milliseconds until it. */
  readonly delayMs: number;
  /** The sequence after which it goes on: that of the last event. Undefined is the beginning of the session. */
  readonly after: number | undefined;
}
