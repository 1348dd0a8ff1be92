"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.readValue = readValue;
exports.expectNothing = expectNothing;
exports.readBytes = readBytes;
exports.readPage = readPage;
exports.readElements = readElements;
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
const json_js_1 = require("./json.js");
/** Reads the value of a call. Throws the declared failure, or a ClientError. The contract defines the type. */
async function readValue({ errors, unwrap }, response) {
    await expectStatus(200, errors, response);
    const body = await readJson(response);
    return (unwrap ? dataOf(body) : body);
}
/** Reads the answer of a call without a value. Throws the declared failure, or a ClientError. */
async function expectNothing({ errors }, response) {
    await expectStatus(204, errors, response);
    discard(response);
}
/** Reads the bytes of the body. Throws the declared failure, or a ClientError. */
async function readBytes({ errors }, response) {
    await expectStatus(200, errors, response);
    return arrived(response.bytes());
}
/** Reads the Page in the body. Throws the declared failure, or a ClientError. */
async function readPage({ errors }, response) {
    await expectStatus(200, errors, response);
    const page = toPage(await readJson(response));
    return page;
}
/** Opens the body of an answer with events or lines. Throws the declared failure, or a ClientError. */
async function readElements({ errors }, response, contentType) {
    await expectStatus(200, errors, response);
    expectType(response, contentType);
    const stream = response.stream();
    if (stream === null)
        throw (0, json_js_1.malformed)("A stream without a body");
    return stream;
}
async function expectStatus(expected, errors, response) {
    if (response.status !== expected)
        throw await readFailure(errors, response);
}
async function readFailure(errors, response) {
    const { status } = response;
    if (errors.includes(status)) {
        const body = await readJson(response);
        // A body without a tag is not of this contract. A gateway has answered.
        if (typeof body._tag === "string")
            return (0, failures_js_1.taggedError)(body);
    }
    else {
        discard(response);
    }
    return new errors_js_1.ClientError("UnexpectedStatus", { cause: { status } });
}
async function readJson(response) {
    expectType(response, "application/json");
    return (0, json_js_1.parseObject)(await arrived(response.text()));
}
async function arrived(body) {
    try {
        return await body;
    }
    catch (error) {
        throw (0, failures_js_1.transportError)(error);
    }
}
function expectType(response, expected) {
    const contentType = response.header("content-type");
    // The common case is the header without parameters.
    if (contentType === expected || contentType?.split(";", 1)[0]?.trim().toLowerCase() === expected)
        return;
    discard(response);
    throw new errors_js_1.ClientError("UnsupportedContentType", { cause: { status: response.status, contentType } });
}
function dataOf(body) {
    if (!Object.hasOwn(body, "data"))
        throw (0, json_js_1.malformed)("A body without data");
    return body.data;
}
/** Converts the envelope of the wire into a Page with `items`, `previous` and `next`. */
function toPage(body) {
    const { data, cursor } = body;
    if (!Array.isArray(data))
        throw (0, json_js_1.malformed)("A page without data");
    const { previous, next } = (cursor ?? {});
    return {
        items: data,
        ...(typeof previous === "string" && { previous }),
        ...(typeof next === "string" && { next }),
    };
}
/** Closes a body that the client does not read, so that its connection is free at once. */
function discard(response) {
    response.stream()?.cancel();
}
