"use strict";
// The client without a host: the same methods over the network. It has no native code and runs in browsers.
var __createBinding = (this && this.__createBinding) || (Object.create ? (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    var desc = Object.getOwnPropertyDescriptor(m, k);
    if (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) {
      desc = { enumerable: true, get: function() { return m[k]; } };
    }
    Object.defineProperty(o, k2, desc);
}) : (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    o[k2] = m[k];
}));
var __exportStar = (this && this.__exportStar) || function(m, exports) {
    for (var p in m) if (p !== "default" && !Object.prototype.hasOwnProperty.call(exports, p)) __createBinding(exports, m, p);
};
Object.defineProperty(exports, "__esModule", { value: true });
exports.resumeEvents = exports.isTagged = exports.isClientError = exports.ClientError = void 0;
exports.createClient = createClient;
const core_js_1 = require("./core.js");
const operations_js_1 = require("./generated/operations.js");
const members_js_1 = require("./members.js");
const index_js_1 = require("./run/index.js");
const transport_js_1 = require("./transport.js");
var errors_js_1 = require("./errors.js");
Object.defineProperty(exports, "ClientError", { enumerable: true, get: function () { return errors_js_1.ClientError; } });
Object.defineProperty(exports, "isClientError", { enumerable: true, get: function () { return errors_js_1.isClientError; } });
Object.defineProperty(exports, "isTagged", { enumerable: true, get: function () { return errors_js_1.isTagged; } });
var resume_js_1 = require("./resume.js");
Object.defineProperty(exports, "resumeEvents", { enumerable: true, get: function () { return resume_js_1.resumeEvents; } });
__exportStar(require("./generated/guards.js"), exports);
const OPTIONS = { baseUrl: null, fetch: null, headers: null };
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
function createClient(options) {
    (0, members_js_1.checkOptions)("createClient", options, OPTIONS);
    return (0, index_js_1.addRuns)((0, operations_js_1.createOperations)((0, core_js_1.connect)((0, transport_js_1.createFetchTransport)(options), options.headers)));
}
