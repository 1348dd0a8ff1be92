// The transport, which carries requests and answers, and the sources of streams.

/** Names in lower case, each once. */
export type HeaderList = [name: string, value: string][];

interface TransportRequest {
  readonly method: string;
  /** Path and query; begins with a slash. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface TransportResponse {
  readonly status: number;
  header(name: string): string | null;
  /** The whole body, as text or as it is. */
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /** The body in pieces; null when there is none. */
  stream(): TextStream | null;
}

/** Makes elements of the text of a body. */
export interface Parser<T> {
  /** Takes more text; only after `next()` has said that it needs some. */
  push(text: string): void;
  /** The body has ended; at most one element is left. Throws when the body ends where it may not. */
  end(): void;
  /** An element; undefined when more text is needed. Throws for text that is none. */
  next(): T | undefined;
}

/** The source of the elements of a stream. */
export interface Feed<T> {
  /** An element that is here already. Throws for what is none. */
  take(): T | undefined;
  /** Waits for more. False is the clean end, after which one element may be left; a rejection ends the stream. */
  more(): Promise<boolean>;
  /** Closes it. A pending `more()` settles soon. */
  cancel(): void;
}

/** A body as text, pulled piece by piece. A piece may end anywhere, but never inside a character. */
export interface TextStream {
  /**
   * Null is the clean end; a failure means that the body broke. What is there already may be given, or thrown,
   * at once.
   */
  next(): Promise<string | null> | string | null;
  /** Closes the body. A pending `next()` settles soon. */
  cancel(): void;
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
