"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.connect = connect;
const abort_js_1 = require("./abort.js");
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
const lines_js_1 = require("./lines.js");
const members_js_1 = require("./members.js");
const pages_js_1 = require("./pages.js");
const parsed_body_js_1 = require("./parsed-body.js");
const request_js_1 = require("./request.js");
const response_js_1 = require("./response.js");
const sse_js_1 = require("./sse.js");
const stream_js_1 = require("./stream.js");
/** The methods of a client over one transport. `headers` are sent with each request. */
function connect(transport, headers) {
    const common = (0, request_js_1.createHeaders)(headers);
    // The request is sent within the call, before the caller continues: two calls in a row arrive in that order.
    function request(call, read) {
        const start = async (signal) => read(await send(transport, common, call, signal));
        return abortable(call.options?.signal ?? undefined, start);
    }
    function iterate(call, createParser, contentType) {
        const connectBody = async (signal) => {
            const response = await send(transport, common, call, signal);
            const body = await (0, response_js_1.readElements)(call.operation, response, contentType);
            return new parsed_body_js_1.ParsedBody(body, createParser());
        };
        return (0, stream_js_1.createStream)(connectBody, call.options?.signal ?? undefined);
    }
    return {
        value: (operation, input, options) => request({ operation, input: input ?? {}, options }, (response) => (0, response_js_1.readValue)(operation, response)),
        upload: (operation, lines, options) => request({ operation, input: lines, options }, (response) => (0, response_js_1.readValue)(operation, response)),
        nothing: (operation, input, options) => request({ operation, input: input ?? {}, options }, (response) => (0, response_js_1.expectNothing)(operation, response)),
        bytes: (operation, input, options) => request({ operation, input: input ?? {}, options }, (response) => (0, response_js_1.readBytes)(operation, response)),
        page: (operation, input, options) => (0, pages_js_1.createPages)(operation, input ?? {}, (given) => request({ operation, input: given, options }, (response) => (0, response_js_1.readPage)(operation, response))),
        events: (operation, input, options) => iterate({ operation, input: input ?? {}, options }, () => new sse_js_1.EventParser(), "text/event-stream"),
        lines: (operation, input, options) => iterate({ operation, input: input ?? {}, options }, () => new lines_js_1.LineParser(), lines_js_1.LINES_TYPE),
    };
}
async function send(transport, common, { operation, input, options }, signal) {
    (0, members_js_1.checkRequestOptions)(`${operation.group}.${operation.name}`, options);
    const isLines = operation.payload === "lines";
    const { method, path, ...encoded } = (0, request_js_1.encodeRequest)(operation, isLines ? {} : input);
    const body = isLines ? await (0, lines_js_1.joinLines)(input, signal) : encoded.body;
    const contentType = body === undefined ? undefined : isLines ? lines_js_1.LINES_TYPE : "application/json";
    try {
        const headers = (0, request_js_1.mergeHeaders)(common, operation.headers, options?.headers, contentType);
        return await transport({ method, path, headers, body, signal });
    }
    catch (error) {
        throw (0, failures_js_1.transportError)(error);
    }
}
/**
 * Runs `start` with a signal of its own, so that no transport puts listeners on the caller's. An abort settles
 * the call at once, even if the transport does not.
 */
function abortable(signal, start) {
    if (signal === undefined)
        return start(undefined);
    if (signal.aborted)
        return Promise.reject(new errors_js_1.ClientError("Transport", { cause: signal.reason }));
    return new Promise((resolve, reject) => {
        const controller = new AbortController();
        const release = (0, abort_js_1.onAbort)(signal, () => {
            reject(new errors_js_1.ClientError("Transport", { cause: signal.reason }));
            controller.abort(signal.reason);
        });
        start(controller.signal).finally(release).then(resolve, reject);
    });
}
