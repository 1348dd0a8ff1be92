// The transport, which carries requests and answers, and the sources of streams.

/** Names in lower case, each at most once. */
export type HeaderList = [name: string, value: string][];

interface TransportRequest {
  readonly method: string;
  /** Path and query. Begins with a slash. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface TransportResponse {
  readonly status: number;
  header(name: string): string | null;
  /** The whole body as text. */
  text(): Promise<string>;
  /** The whole body as an object, if the transport parses it. */
  json?(): Promise<Record<string, unknown>>;
  bytes(): Promise<Uint8Array>;
  /** The body in pieces, or null without a body. */
  stream(): TextStream | null;
}

/** Makes elements of the text of a body. */
export interface Parser<T> {
  /** Takes more text. Only allowed after `next()` returned undefined. */
  push(text: string): void;
  /** Reports the end of the body, after which at most one element is left. Throws if the body must not end here. */
  end(): void;
  /** Returns an element, or undefined if more text is needed. Throws if the text is not an element. */
  next(): T | undefined;
}

/** The source of the elements of a stream. */
export interface Feed<T> {
  /** Returns an element that has arrived already. Throws if it cannot be read. */
  take(): T | undefined;
  /** Waits for more. False is the clean end, after which one element may be left. A rejection ends the stream. */
  more(): Promise<boolean>;
  /** Closes the source. A pending `more()` settles soon. */
  cancel(): void;
}

/** A body as text in pieces. A piece may end anywhere except inside a character. */
export interface TextStream {
  /**
   * Returns the next piece, or null at the clean end. Fails if the body breaks. Text that has arrived already may be
   * returned, and a failure thrown, without a promise.
   */
  next(): Promise<string | null> | string | null;
  /** Closes the body. A pending `next()` settles soon. */
  cancel(): void;
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
