// Written by `node scripts/native-types.mjs` from crates/node. Do not edit.

/** The functions of the addon. */
export interface Addon {
  /**
   * Opens a host. The options are complete JSON. If the result is a text, it is a tagged failure as JSON. The callback
   * receives the entries of the log as JSON arrays; without it there is no log.
   */
  open(options: string, logOptions: string, log: ((entries: string) => void) | null): Promise<string | NativeHost>;
  /** Returns the reason that no host can be opened in this process, or null. Callers check it before any other call. */
  notStarted(): string | null;
}

/** A reader of requests in JavaScript. */
export interface NativeAttendance {
  /** Makes no further callback, except those already under way. */
  stop(): void;
}

/**
 * The body of a streaming answer.
 *
 * From the first pull on, one task reads it, at most one piece ahead. A pull that waits costs only its promise: a
 * single token must not start and wake further tasks.
 */
export interface NativeBody {
  /** Status and headers as JSON. */
  readonly head: string;
  /**
   * Returns the available text, or a promise if there is none yet. Null is the end. Throws or rejects if the body
   * breaks. The caller must wait for a pull before the next one.
   */
  next(): string | null | Promise<string | null>;
  /** Ends the body and frees its source. A pending pull resolves with null. */
  cancel(): void;
}

/** A complete answer with a binary body. */
export interface NativeBytes {
  /** Status and headers as JSON. */
  head: string;
  /** The body. */
  bytes: Uint8Array;
}

/** An open host. */
export interface NativeHost {
  /**
   * Sends a request: its head as JSON `{method, url, headers}`, its body as text. Requests are admitted in the
   * order of these calls. A complete answer is its head as JSON `{status, headers}`, a line feed and its body. A
   * binary body comes as bytes, a streaming answer as a body to pull from. If the head of such a body has `isInLines`,
   * the body is a large answer: first the answer with an empty `data`, then arrays with its elements. A `call` other
   * than 0 is a number for cancelling the request.
   */
  request(head: string, body: string | undefined | null, call: number): Promise<string | NativeBody | NativeBytes>;
  /**
   * Cancels a pending request: its promise rejects. Work that must complete, such as an admission, continues.
   * Ignores unknown calls.
   */
  cancel(call: number): void;
  /**
   * Returns null if no Session Drain runs, else a promise that resolves when none runs. The promise does not keep
   * the host alive: dropping the host ends its drains and the promise.
   */
  untilIdle(): Promise<void> | null;
  /**
   * Serves requests on a socket. The options are complete JSON. If the result is a text, it is a tagged failure as
   * JSON.
   */
  listen(options: string): Promise<string | NativeListener>;
  /**
   * Calls back with each permission request of all sessions, first those that already wait: JSON `{"asked":
   * request}`, and `{"ended": id}` at its end, until the result is stopped. Does not keep the process alive.
   */
  askedPermissions(callback: (request: string) => void): NativeAttendance;
  /** Calls back with the questions of all sessions, in the same way. */
  askedQuestions(callback: (request: string) => void): NativeAttendance;
  /**
   * Calls back with the functions of the program that the host calls, as JSON arrays of notices: `{"call": {id,
   * function, input}}`, `{"permitted": id}` and `{"ended": id}`, until the result is stopped. Only the first call of
   * this method receives them. Does not keep the process alive.
   */
  programCalls(callback: (notices: string) => void): NativeAttendance;
  /**
   * Sends a message about such a call as JSON: `{"result": value}`, `{"error": {message, stack}}`, `{"progress":
   * {structured, content}}` or `{"permission": {action, resources, save}}`. Returns false if the call does not wait
   * any more.
   */
  answer(call: number, message: string): boolean;
  /**
   * Registers what a program gives, for the Location of a directory or for all. The kind is `tool`, `contextSource`,
   * `provider`, `hook` or `environment`, and the definition is JSON. Returns its number, which is unique in its kind,
   * or a tagged failure as JSON.
   */
  register(kind: string, definition: string, directory?: string | undefined | null): number | string;
  /** Removes what a program registered. Its running calls continue. Ignores an unknown number. */
  unregister(kind: string, number: number): void;
  /** Begins the recovery that the options chose. Only the first call has an effect. */
  beginRecovery(): void;
  /**
   * Trusts the project of a Location from now on, or no longer. Without a directory it is the default Location. A
   * text is a tagged failure as JSON.
   */
  trust(directory: string | undefined | null, trusted: boolean): Promise<string | null>;
  /** Replaces the budget of the host, given as JSON. A text is a tagged failure as JSON. */
  setBudget(limits: string): string | null;
  /**
   * Adds a warning about a function of the program to the log. The fields are a JSON object; `sessionID` and
   * `directory` in it name the subject.
   */
  warn(message: string, fields: string): void;
  /**
   * Settles running work, ends the streams, closes the database and delivers the rest of the log. A second call is
   * harmless.
   */
  close(): Promise<void>;
}

/** A socket of a host. It listens until it or its host is closed, even if this object is dropped. */
export interface NativeListener {
  /** The address for clients on this machine. */
  readonly url: string;
  /** The user name of clients. `None` if the password is off. */
  readonly username: string | null;
  /** The password of clients. `None` if it is off. */
  readonly password: string | null;
  /** Refuses further requests, waits for those under way, and closes the socket. A second call is harmless. */
  close(): Promise<void>;
  /** Resolves when the last connection has ended. */
  closed(): Promise<void>;
}
