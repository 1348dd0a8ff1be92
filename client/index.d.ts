// The client alone: the same methods as the embedded host, over the network. No native code; runs in browsers.

import type {
  OpenCodeError,
  OpenCodeOperations,
  ServiceUnavailableError,
  SessionDurableEvent,
} from "./generated/types.js";
import type { RunInput, SessionRun } from "./run.js";
import type { ClientErrorReason, HeadersInput, RequestOptions } from "./types.js";

export type * from "./run.js";
export type * from "./types.js";
export * from "./generated/types.js";

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

/**
 * Creates a client for an OpenCode server. It opens nothing: the first request leaves with the first call.
 *
 * Methods reject with a tagged failure (an `Error` whose own enumerable properties are exactly the body on
 * the wire, to be told apart by `_tag`) or with a `ClientError`. An input with a member that the method does not take
 * is an `InvalidRequestError`, and nothing is sent. Nothing is retried and no stream is
 * reconnected; `resumeEvents` does it for the durable events of a session.
 *
 * @example
 * ```ts
 * const opencode = createClient({ baseUrl: "http://127.0.0.1:4096" })
 * const session = await opencode.sessions.create()
 * ```
 *
 * @throws TypeError when an option is unknown, `baseUrl` is not an absolute URL, a header is not allowed, or there is
 * no `fetch`.
 */
export declare function createClient(options: ClientOptions): OpenCodeClient;

/** The part of a client that `resumeEvents` uses. Every client and every host has it. */
export interface ResumableClient {
  readonly sessions: Pick<OpenCodeClient["sessions"], "events">;
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

/**
 * The durable events of a session like `sessions.events`, over as many connections as it takes: after a break it
 * goes on behind the last event it delivered, so that none is missing and none comes twice.
 *
 * It reconnects when the failure may pass:
 *
 * - `ClientError("Transport")`: no connection, a broken connection, or a closed connection, because the stream itself
 *   never ends;
 * - `ClientError("UnexpectedStatus")` and `ClientError("UnsupportedContentType")` with status 408, 425, 429 or 5xx,
 *   which is how gateways answer for a server that is not there;
 * - `ServiceUnavailableError`.
 *
 * Every other failure ends the iteration and is what `next()` rejects with: all other failures that have a tag, such
 * as `SessionNotFoundError` and `UnauthorizedError`, `MalformedResponse`, what the server tells of its own failure
 * in the middle of the stream, and a host in this process that is closed.
 *
 * Nothing happens before the first `next()`, and every iterator has its own connections. `return()` closes it at
 * once, also while it waits.
 *
 * @example
 * ```ts
 * for await (const event of resumeEvents(opencode, { sessionID, after: lastSequence })) {
 *   await record(event)
 * }
 * ```
 *
 * @throws TypeError when an option is unknown, a delay or a count is out of bounds, or a header is not allowed.
 */
export declare function resumeEvents(
  client: ResumableClient,
  options: ResumeEventsOptions,
): AsyncIterable<SessionDurableEvent>;

/** A call that brought back no declared answer. `reason` says why, `cause` what happened. */
export declare class ClientError extends Error {
  constructor(reason: ClientErrorReason, options?: { cause?: unknown });
  readonly name: "ClientError";
  readonly reason: ClientErrorReason;
  readonly cause?: unknown;
}

/**
 * Returns true if a value is a `ClientError`. It compares `name` and `reason`, so it also recognises errors of another
 * copy of this package and of another realm, for which `instanceof` fails.
 */
export declare function isClientError(value: unknown): value is ClientError;

/** The failure with a tag. One that this version does not know has a tag and a message. */
export type Tagged<Tag extends string> = Tag extends OpenCodeError["_tag"]
  ? Extract<OpenCodeError, { readonly _tag: Tag }>
  : { readonly _tag: Tag; readonly message: string };

/**
 * Returns true if a value is the failure with this tag. It compares `_tag` alone.
 *
 * @example
 * ```ts
 * await opencode.sessions.get({ sessionID }).catch((error) => {
 *   if (isTagged(error, "SessionNotFoundError")) return undefined
 *   throw error
 * })
 * ```
 */
export declare function isTagged<const Tag extends string>(value: unknown, tag: Tag): value is Tagged<Tag>;
