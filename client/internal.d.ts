// The two shapes the client is made of: the table of operations, which is generated, and the transport,
// the one seam between the client and what carries its requests.

/** One operation of the wire contract. */
export interface Operation {
  /** Where the method stands in the client: `sessions`. May be nested with dots, as may `name`. */
  readonly group: string;
  readonly name: string;
  readonly method: string;
  /** Literal text and parameters, to be joined. The slashes of a rest stay slashes. */
  readonly path: readonly (string | { readonly param: string } | { readonly rest: string })[];
  /** Headers that every request of it carries. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of the input's fields that travel in the query. */
  readonly query: readonly string[];
  /**
   * Names of the input's fields that travel in the body as JSON; `lines` when the input is the lines of the
   * body; null when there is no body.
   */
  readonly payload: readonly string[] | "lines" | null;
  /** Names of fields for which a caller may give the text alone: `"hi"` is sent as `{ text: "hi" }`. */
  readonly texts?: readonly string[];
  /** The fields that hold objects whose members are all known. */
  readonly shapes?: ObjectShape;
  readonly input: "none" | "optional" | "required";
  readonly success: Success;
  /** The statuses whose body is a declared failure. */
  readonly errors: readonly number[];
}

/** The members that a value may have: anything, a list of values of one shape, or an object. */
export type Shape = null | readonly Shape[] | ObjectShape;

/** An object that has these members and no others. */
export interface ObjectShape {
  readonly [member: string]: Shape;
}

/** Converts the answer of an operation into the value of its method. */
export type Success =
  | { readonly kind: "value"; readonly unwrap: boolean }
  | { readonly kind: "void" }
  | { readonly kind: "stream" }
  | { readonly kind: "lines" }
  | { readonly kind: "bytes" }
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

/** The state that all methods of one client share. */
export interface Connection {
  readonly transport: Transport;
  readonly headers: HeaderList;
}

/** `RequestOptions` and inputs as the core meets them: from callers that may not use TypeScript. */
export type Input = Readonly<Record<string, unknown>>;
