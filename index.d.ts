/// <reference lib="esnext.disposable" />

// The facade: the client of `opencode-embedded/client`, and the host that answers the same methods in memory.

import type { OpenCodeClient } from "./client/index.js";

export * from "./client/index.js";

/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object that JSON can represent. Members that are undefined count as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** How much a commit survives. */
export type Durability = "normal" | "full";

/**
 * Settings of a host, all of them optional. They are checked before anything is opened: an option that does
 * not exist or has another type rejects with `InvalidOptionError`, which names it.
 *
 * Relative paths are resolved against the working directory when the host is created.
 */
export interface OpenCodeOptions {
  /** The folder sessions work in unless they are created for another one. Default: the working directory. */
  readonly directory?: string | undefined;
  /**
   * The SQLite file that holds the sessions, or `":memory:"` for one that lives as long as the host. Only one
   * host may have a file open. Default: `embedded/opencode.db` in `dataDirectory`.
   */
  readonly database?: string | undefined;
  /**
   * The home directory: what `~` stands for, and where the defaults of the next three lie.
   * Default: `HOME` of `env`, else the home directory of the user.
   */
  readonly home?: string | undefined;
  /**
   * Where data is kept. Default: `opencode` in `XDG_DATA_HOME`, else `.local/share/opencode` in `home`.
   * The `XDG_` variables of this process do not count when `home` is given; those of a given `env` do.
   */
  readonly dataDirectory?: string | undefined;
  /**
   * Where the user's configuration is read from. Default: `opencode` in `XDG_CONFIG_HOME`, else
   * `.config/opencode` in `home`.
   */
  readonly configDirectory?: string | undefined;
  /** What may be deleted at any time. Default: `opencode` in `XDG_CACHE_HOME`, else `.cache/opencode` in `home`. */
  readonly cacheDirectory?: string | undefined;
  /** Configuration with the keys of `opencode.json`, merged over what the configuration files say. Default: none. */
  readonly config?: JsonObject | undefined;
  /**
   * The environment, instead of the one of this process. It is copied when the host is created, so later
   * changes are not seen. Default: a copy of `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * With `"normal"` nothing acknowledged is lost when the process dies; with `"full"` nor when the machine
   * loses power, at the price of waiting for the disk with every commit. Default: `"normal"`.
   */
  readonly durability?: Durability | undefined;
}

/**
 * A host: sessions that run inside this process. It is the client, every method of which passes the same
 * routes as over the network, and the members below.
 *
 * An open host does not keep the process alive; a call that has not been answered does.
 */
export interface OpenCodeHost extends OpenCodeClient, AsyncDisposable {
  /**
   * `fetch`, answered by this host. The origin of the URL means nothing. Bodies stream; an abort rejects with
   * the reason of the signal. Without an answer, as after `close()`, it rejects with `ClientError("Transport")`.
   *
   * @example
   * ```ts
   * const response = await opencode.fetch("http://opencode.local/api/health")
   * ```
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Interrupts what is running, ends every stream, closes the file and resolves when all of it is done.
   * Calling it again gives the same promise. Every later call rejects with `ClientError("Transport")`.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The way to a host. */
export declare const OpenCode: {
  /**
   * Opens a host on one SQLite file, which is created when it does not exist.
   *
   * Rejects with `InvalidOptionError`, `DatabaseUnavailableError`, `DatabaseVersionError` or
   * `DatabaseInUseError`.
   *
   * @example
   * ```ts
   * await using opencode = await OpenCode.create({ directory: "/home/me/project" })
   * const session = await opencode.sessions.create()
   * ```
   */
  create(options?: OpenCodeOptions): Promise<OpenCodeHost>;
};
