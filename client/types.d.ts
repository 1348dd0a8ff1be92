// Types that are written by hand and that the generated declarations refer to.

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
 * To walk the list, pass `next` as `cursor` until `items` is empty; keep the last cursor to ask later
 * for what has appeared since. Both cursors are absent on an empty page.
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
