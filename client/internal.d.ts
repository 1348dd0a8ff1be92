// The two shapes the client is made of: the table of operations, which is generated, and the transport,
// the one seam between the client and what carries its requests.

/** One operation of the wire contract. */
export interface Operation {
  /** Where the method stands in the client: `sessions`. May be nested with dots, as may `name`. */
  readonly group: string;
  readonly name: string;
  readonly method: string;
  /** Literal text and parameters, to be joined. */
  readonly path: readonly (string | { readonly param: string })[];
  /** Names of the input's fields that travel in the query. */
  readonly query: readonly string[];
  /**
   * Names of the input's fields that travel in the body as JSON; `lines` when the input is the lines of the
   * body; null when there is no body.
   */
  readonly payload: readonly string[] | "lines" | null;
  readonly input: "none" | "optional" | "required";
  readonly success: Success;
  /** The statuses whose body is a declared failure. */
  readonly errors: readonly number[];
}

/** How the answer of an operation becomes the value of its method. */
export type Success =
  | { readonly kind: "value"; readonly unwrap: boolean }
  | { readonly kind: "void" }
  | { readonly kind: "stream" }
  | { readonly kind: "lines" }
  /** `continuation` names the only fields that may stand beside a cursor. */
  | { readonly kind: "page"; readonly continuation: readonly string[] };

/** Names in lower case, each once. */
export type HeaderList = [name: string, value: string][];

export interface TransportRequest {
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
  /** The whole body. */
  text(): Promise<string>;
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

/** A body as text, pulled piece by piece. A piece may end anywhere, but never inside a character. */
export interface TextStream {
  /** Null is the clean end; a rejection means that the body broke. */
  next(): Promise<string | null>;
  /** Closes the body. A pending `next()` settles soon. */
  cancel(): void;
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** What every method of one client shares. */
export interface Connection {
  readonly transport: Transport;
  readonly headers: HeaderList;
}

/** `RequestOptions` and inputs as the core meets them: from callers that may not use TypeScript. */
export type Input = Readonly<Record<string, unknown>>;
