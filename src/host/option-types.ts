// The functions and objects that options of a host take. `generated/options.ts` declares the options.

import type { SessionInfo } from "../client/index.js";
import type { JsonValue } from "../index.js";
import type { LogLevel } from "./generated/options.js";

/** The second argument of a function that answers requests of the host. */
export interface HandlerOptions {
  /**
   * Aborts when the request ends otherwise: another function or client answered it, the session was interrupted, its
   * time ran out, the caller gave up, or the host closes. An answer that comes later has no effect, and a function that
   * rejects after the abort causes no warning. After the function's own answer the signal stays quiet.
   */
  readonly signal: AbortSignal;
}

/**
 * Decides whether the host trusts the project of a Location.
 *
 * @param directory The directory of the Location, absolute and in normal form.
 * @param options The signal that aborts when the host needs the decision no more.
 */
export type TrustFunction = (directory: string, options: HandlerOptions) => boolean | Promise<boolean>;

/** The session that a function of `ShareOptions` gets. */
export interface SharedSession {
  /** The session. `session.share.url` is the address of its copy, if there is one. */
  readonly session: SessionInfo;
  /** Aborts when the host needs the result no more: after 60 seconds, or when it closes. */
  readonly signal: AbortSignal;
}

/** A session that is published. */
export interface PublishedSession extends SharedSession {
  /** The session as lines, as `sessions.export` gives them. Nothing is read before the first line is taken. */
  readonly lines: AsyncIterable<string>;
}

/**
 * Keeps the values of credentials, for example in the secret storage of an editor. A value is a secret text without a
 * documented format. Each function has ten seconds. If one throws or rejects, the operation fails with
 * `ServiceUnavailableError`, and nothing is stored elsewhere.
 */
export interface CredentialStore {
  /** Returns the value with this key, or `undefined` if there is none. */
  get(key: string): string | undefined | Promise<string | undefined>;
  /** Stores a value, or replaces it. */
  set(key: string, value: string): unknown;
  /** Removes a value. Ignores an unknown key. */
  remove(key: string): unknown;
}

/** One entry of the log of a host. It contains no known secret. */
export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  /** The part of the host, such as `"opencode::store"`. docs/log.md has the list. */
  readonly target: string;
  readonly message: string;
  /** The values of the message. Texts of more than 8 KiB are cut. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** The session that the entry is about. */
  readonly sessionID?: string;
  /** The Location that the entry is about. */
  readonly location?: { readonly directory: string };
}
