"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.encodeRequest = encodeRequest;
exports.encodeJson = encodeJson;
exports.createHeaders = createHeaders;
exports.mergeHeaders = mergeHeaders;
const errors_js_1 = require("./errors.js");
const failures_js_1 = require("./failures.js");
const members_js_1 = require("./members.js");
const shape_js_1 = require("./shape.js");
/** Encodes an input as a request, without a body of lines. Throws a tagged failure if the input is wrong. */
function encodeRequest(operation, input) {
    (0, shape_js_1.checkShape)(operation, input);
    (0, members_js_1.checkInput)(operation, input);
    const { method, query, payload, texts, continuation } = operation;
    if (continuation !== undefined)
        refuseMixedCursor(query, continuation, input);
    return {
        method,
        path: encodePath(operation, input) + encodeQuery(query, input),
        body: payload === null || payload === "lines" ? undefined : encodeBody(payload, texts, input),
    };
}
/**
 * Refuses a query beside a cursor. The cursor contains the query that it continues, so a second query would be
 * ignored or would contradict it.
 */
function refuseMixedCursor(query, continuation, input) {
    if (isAbsent(input.cursor))
        return;
    const field = query.find((name) => !isAbsent(input[name]) && !continuation.includes(name));
    if (field === undefined)
        return;
    throw (0, failures_js_1.taggedError)({ _tag: "InvalidCursorError", message: `Cursor cannot be combined with ${field}` });
}
function encodePath(operation, input) {
    let path = "";
    for (const segment of operation.path) {
        if (typeof segment === "string")
            path += segment;
        else if ("param" in segment)
            path += encodeSegments(segment.param, [readText(segment.param, input)]);
        else
            path += encodeSegments(segment.rest, readText(segment.rest, input).split("/"));
    }
    return path;
}
function readText(name, input) {
    const value = input[name];
    if (isAbsent(value))
        throw (0, shape_js_1.invalidRequest)(`Missing ${name}`, name);
    return String(value);
}
function encodeSegments(name, segments) {
    // An empty segment, `.` and `..` change the path, also if they are escaped. The call would reach another operation.
    if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
        throw (0, shape_js_1.invalidRequest)(`Invalid ${name}: ${JSON.stringify(segments.join("/"))}`, name);
    }
    return segments.map(encodeText).join("/");
}
function encodeQuery(names, input) {
    const pairs = [];
    for (const name of names)
        appendQuery(pairs, name, input[name]);
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
/** Adds a value to the query. An array repeats the name. The members of an object become `name[member]`. */
function appendQuery(pairs, name, value) {
    if (isAbsent(value))
        return;
    if (Array.isArray(value)) {
        for (const item of value)
            appendQuery(pairs, name, item);
    }
    else if (typeof value === "object") {
        for (const [key, member] of Object.entries(value)) {
            appendQuery(pairs, `${name}[${key}]`, member);
        }
    }
    else {
        pairs.push(`${encodeText(name)}=${encodeText(String(value))}`);
    }
}
/** @param texts Fields whose text is sent as `{ text }`. */
function encodeBody(names, texts, input) {
    const body = {};
    for (const name of names) {
        const value = input[name];
        if (value !== undefined)
            body[name] = typeof value === "string" && texts?.includes(name) ? { text: value } : value;
    }
    try {
        return encodeJson(body);
    }
    catch (cause) {
        // A cycle or a BigInt has no JSON.
        throw new errors_js_1.ClientError("Transport", { cause });
    }
}
/**
 * Encodes JSON that every parser accepts. `JSON.stringify` escapes half of a surrogate pair, which remains if a
 * program cuts a string inside an emoji. Strict parsers refuse a document with such an escape.
 */
function encodeJson(value) {
    const json = JSON.stringify(value);
    return json.includes("\\ud") ? replaceSurrogates(json) : json;
}
/**
 * Replaces half pairs. `JSON.stringify` never escapes whole pairs, so every surrogate escape is half a pair. The
 * second alternative skips all other escapes: the text of `\\ud800` is `\ud800`, which stays.
 */
function replaceSurrogates(json) {
    return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (match) => (match.length === 6 ? "\\ufffd" : match));
}
function encodeText(text) {
    return encodeURIComponent(text.toWellFormed());
}
function isAbsent(value) {
    return value === undefined || value === null;
}
function createHeaders(headers) {
    return isAbsent(headers) ? [] : [...new Headers(headers)];
}
/**
 * The headers of a request: those of the call win over those of the operation, which win over those of the client.
 * `contentType` is the type of our own body and only a default.
 */
function mergeHeaders(client, operation, call, contentType) {
    // Always a new list, because the transport may change it.
    const merged = [...override(override(client, Object.entries(operation ?? {})), createHeaders(call))];
    if (contentType !== undefined && !merged.some(([name]) => name === "content-type")) {
        merged.push(["content-type", contentType]);
    }
    return merged;
}
function override(base, over) {
    if (over.length === 0)
        return base;
    return [...base.filter(([name]) => !over.some(([other]) => other === name)), ...over];
}
