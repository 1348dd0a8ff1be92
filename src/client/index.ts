// The client without a host: the same methods over the network. It has no native code and runs in browsers.

import { connect } from "./core.js";
import { createOperations } from "./generated/operations.js";
import { checkOptions } from "./members.js";
import { addRuns } from "./run/index.js";
import { createFetchTransport } from "./transport.js";
import type { ClientOptions, OpenCodeClient } from "./types.js";

export { citedSources } from "./cited-sources.js";
export { ClientError, isClientError, isTagged } from "./errors.js";
export { resumeEvents } from "./resume.js";
export * from "./generated/guards.js";

export type * from "./generated/types.js";
export type * from "./run/types.js";
export type * from "./types.js";
export type { Tagged } from "./errors.js";

const OPTIONS: Readonly<Record<keyof ClientOptions, null>> = { baseUrl: null, fetch: null, headers: null };

/**
 * Creates a client for an OpenCode server. It opens nothing: the first call sends the first request.
 *
 * Methods reject with a tagged failure (an `Error` whose own enumerable properties are exactly the body on
 * the wire, identified by `_tag`) or with a `ClientError`. An input with a member that the method does not take
 * is an `InvalidRequestError`, and nothing is sent. The client repeats no request and reconnects no
 * stream; `resumeEvents` does it for the durable events of a session.
 *
 * @example
 * ```ts
 * const opencode = createClient({ baseUrl: "http://127.0.0.1:4096" })
 * const session = await opencode.sessions.create()
 * ```
 *
 * @throws TypeError if an option is unknown, `baseUrl` is not an absolute URL, a header is not allowed, or there is
 * no `fetch`.
 */
export function createClient(options: ClientOptions): OpenCodeClient {
  checkOptions("createClient", options, OPTIONS);
  return addRuns(createOperations(connect(createFetchTransport(options), options.headers)));
}
