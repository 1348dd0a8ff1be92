// The client alone: the same methods as the embedded host, over the network. No native code; runs in browsers.

import type { OpenCodeClient } from "./generated/types.js";
import type { ClientErrorReason, HeadersInput } from "./types.js";

export type * from "./types.js";
export * from "./generated/types.js";

/** Settings of `createClient`. */
export interface ClientOptions {
  /**
   * Where the server is: an absolute URL. A path in it stands before the path of every operation; a query
   * or a fragment is ignored.
   */
  readonly baseUrl: string;
  /**
   * What sends the requests, such as the `fetch` of a host. Default: the global `fetch`, looked up once, when
   * the client is created.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Headers of every request, such as `authorization`. Default: none. */
  readonly headers?: HeadersInput | undefined;
}

/**
 * Creates a client for an OpenCode server. It opens nothing: the first request leaves with the first call.
 *
 * Methods reject with a tagged failure (an `Error` whose own enumerable properties are exactly the body on
 * the wire, to be told apart by `_tag`) or with a `ClientError`. Nothing is retried and no stream is
 * reconnected.
 *
 * @example
 * ```ts
 * const opencode = createClient({ baseUrl: "http://127.0.0.1:4096" })
 * const session = await opencode.sessions.create()
 * ```
 *
 * @throws TypeError when `baseUrl` is not an absolute URL, a header is not allowed, or there is no `fetch`.
 */
export declare function createClient(options: ClientOptions): OpenCodeClient;

/** A call that brought back no declared answer. `reason` says why, `cause` what happened. */
export declare class ClientError extends Error {
  constructor(reason: ClientErrorReason, options?: { cause?: unknown });
  readonly name: "ClientError";
  readonly reason: ClientErrorReason;
  readonly cause?: unknown;
}

/**
 * Whether a value is a `ClientError`. It looks at `name` and `reason`, so it also knows those of another
 * copy of this package and of another realm, where `instanceof` fails.
 */
export declare function isClientError(value: unknown): value is ClientError;

/**
 * Whether a value is the failure with this tag. It looks at `_tag` alone.
 *
 * @example
 * ```ts
 * await opencode.sessions.get({ sessionID }).catch((error) => {
 *   if (isTagged(error, "SessionNotFoundError")) return undefined
 *   throw error
 * })
 * ```
 */
export declare function isTagged<const Tag extends string>(
  value: unknown,
  tag: Tag,
): value is { readonly _tag: Tag; readonly message: string };
