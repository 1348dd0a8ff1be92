"use strict";
// Unknown members of inputs. The client refuses them before it sends a request, because a server would ignore them.
Object.defineProperty(exports, "__esModule", { value: true });
exports.checkInput = checkInput;
exports.checkMembers = checkMembers;
exports.checkRequestOptions = checkRequestOptions;
exports.checkOptions = checkOptions;
const errors_js_1 = require("./errors.js");
const shape_js_1 = require("./shape.js");
const suggest_js_1 = require("./suggest.js");
const REQUEST_OPTIONS = { signal: null, headers: null };
// Longest name that a failure shows, in UTF-16 code units.
const MAX_SHOWN = 60;
const inputShapes = new WeakMap();
/** Throws `InvalidRequestError` if the input has a member that the operation does not take. */
function checkInput(operation, input) {
    const unknown = findIn(input, inputShape(operation));
    if (unknown === undefined)
        return;
    const { group, name } = operation;
    throw refusal(`${group}.${name}`, unknown, suggestForInput(operation, input, unknown));
}
/** Throws `InvalidRequestError` if the input of a method that is not an operation has an unknown member. */
function checkMembers(method, input, shape) {
    const unknown = findIn(input, shape);
    if (unknown !== undefined)
        throw refusal(method, unknown, suggestMember(unknown));
}
/** Throws `InvalidRequestError` if the options of a call are wrong. */
function checkRequestOptions(method, options) {
    if (options === undefined || options === null)
        return;
    const subject = `the options of ${method}`;
    if (typeof options !== "object") {
        throw (0, shape_js_1.invalidRequest)(`${method} takes { signal, headers } as its options, got a ${typeof options}`, undefined);
    }
    // The members of a signal are on its prototype.
    if ("aborted" in options)
        throw (0, shape_js_1.invalidRequest)(`Write { signal } as ${subject}`, undefined);
    const unknown = findUnknown(options, REQUEST_OPTIONS);
    if (unknown === undefined)
        return;
    const isTimeout = unknown.name === "timeout";
    throw refusal(subject, unknown, isTimeout ? "signal: AbortSignal.timeout(ms)" : suggestMember(unknown));
}
/**
 * Throws a TypeError if the options of a function are not an object, or have an unknown member.
 *
 * @param subject Name of the function.
 */
function checkOptions(subject, options, shape) {
    if (typeof options !== "object" || options === null) {
        throw new TypeError(`${subject} takes an object with ${Object.keys(shape).join(", ")}`);
    }
    const unknown = findUnknown(options, shape);
    if (unknown !== undefined)
        throw new TypeError(describe(subject, unknown, suggestMember(unknown)));
}
function findIn(input, shape) {
    try {
        return findUnknown(input, shape);
    }
    catch (cause) {
        // A getter or a proxy of the caller has thrown, so there is nothing to send.
        throw new errors_js_1.ClientError("Transport", { cause });
    }
}
/**
 * The first member that a shape does not have. An undefined member counts as absent. The host checks the kinds of
 * values and the content of open objects.
 */
function findUnknown(value, shape) {
    if (shape === undefined || shape === null || typeof value !== "object" || value === null)
        return undefined;
    if (isList(shape))
        return Array.isArray(value) ? findInItems(value, shape[0]) : undefined;
    if (Array.isArray(value))
        return undefined;
    for (const name of Object.keys(value)) {
        const member = value[name];
        if (member === undefined)
            continue;
        if (!Object.hasOwn(shape, name))
            return { owner: "", name, shape };
        const unknown = findUnknown(member, shape[name]);
        if (unknown !== undefined)
            return { ...unknown, owner: join(name, unknown.owner) };
    }
    return undefined;
}
function findInItems(items, shape) {
    for (const [index, item] of items.entries()) {
        const unknown = findUnknown(item, shape);
        if (unknown !== undefined)
            return { ...unknown, owner: join(`[${index}]`, unknown.owner) };
    }
    return undefined;
}
function join(owner, rest) {
    return rest === "" || owner === "" || rest.startsWith("[") ? owner + rest : `${owner}.${rest}`;
}
function refusal(subject, unknown, intended) {
    return (0, shape_js_1.invalidRequest)(describe(subject, unknown, intended), join(unknown.owner, unknown.name));
}
function describe(subject, { owner, name, shape }, intended) {
    const short = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}...` : name;
    const shown = /^[\w.]+$/.test(short) ? short : JSON.stringify(short);
    const taker = owner === "" ? "which" : `whose ${owner}`;
    const hint = intended === undefined ? "" : `. Did you mean ${intended}?`;
    return `Unknown member ${join(owner, shown)} of ${subject}, ${taker} takes ${Object.keys(shape).join(", ")}${hint}`;
}
function suggestForInput(operation, input, unknown) {
    const { owner, name } = unknown;
    if (owner !== "")
        return suggestMember(unknown);
    if (Object.hasOwn(REQUEST_OPTIONS, name)) {
        return `the second parameter, ${operation.name}({ ... }, { ${name} })`;
    }
    // `id` instead of `sessionID`.
    const missing = name === "id" ? (0, shape_js_1.params)(operation).find((param) => !Object.hasOwn(input, param)) : undefined;
    return missing ?? suggestMember(unknown);
}
/** The name that the caller probably meant: a member of the same object, or of an object in it. */
function suggestMember({ owner, name, shape }) {
    const inner = Object.entries(shape).flatMap(([outer, it]) => (it === null || isList(it) ? [] : [{ outer, it }]));
    const within = (choose) => {
        for (const { outer, it } of inner) {
            const chosen = choose(Object.keys(it));
            if (chosen !== undefined)
                return `${outer}: { ${chosen} }`;
        }
        return undefined;
    };
    const exact = within((names) => names.find((other) => other === name));
    if (exact !== undefined)
        return exact;
    const like = (0, suggest_js_1.suggest)(name, Object.keys(shape));
    return like === undefined ? within((names) => (0, suggest_js_1.suggest)(name, names)) : join(owner, like);
}
/** The allowed members of the input of an operation. */
function inputShape(operation) {
    const known = inputShapes.get(operation);
    if (known !== undefined)
        return known;
    const { query, payload, shapes } = operation;
    const names = [...(0, shape_js_1.params)(operation), ...query, ...(payload === null || payload === "lines" ? [] : payload)];
    const shape = Object.fromEntries(names.map((name) => [name, shapes?.[name] ?? null]));
    inputShapes.set(operation, shape);
    return shape;
}
function isList(shape) {
    return Array.isArray(shape);
}
