"use strict";

// Members that an input does not have. A caller that misspells one, or puts it at the wrong place, learns it before
// anything is sent; a server would ignore the member.

const { ClientError } = require("./errors.js");
const { invalidRequest, params } = require("./shape.js");
const { suggest } = require("./suggest.js");

/**
 * @typedef {import("./internal.js").Operation} Operation
 * @typedef {import("./internal.js").Shape} Shape
 * @typedef {import("./internal.js").ObjectShape} ObjectShape
 *
 * @typedef {object} Unknown
 * @property {string} owner Where the object is that has the member; empty for the input itself.
 * @property {string} name
 * @property {ObjectShape} shape What the object may have.
 */

/** @type {Readonly<Record<keyof import("./types.js").RequestOptions, Shape>>} */
const REQUEST_OPTIONS = { signal: null, headers: null };

// Longest name of a caller that is shown.
const MAX_SHOWN = 60;

/** @type {WeakMap<Operation, ObjectShape>} */
const inputShapes = new WeakMap();

/**
 * Throws `InvalidRequestError` for a member that the input of an operation does not have.
 *
 * @param {Operation} operation
 * @param {object} input
 */
function checkInput(operation, input) {
  const unknown = findIn(input, inputShape(operation));
  if (unknown === undefined) return;
  const { group, name } = operation;
  throw refusal(`${group}.${name}`, unknown, suggestForInput(operation, input, unknown));
}

/**
 * Throws `InvalidRequestError` for an input of a method that is no operation.
 *
 * @param {string} method
 * @param {object} input
 * @param {ObjectShape} shape
 */
function checkMembers(method, input, shape) {
  const unknown = findIn(input, shape);
  if (unknown !== undefined) throw refusal(method, unknown, suggestMember(unknown));
}

/**
 * Throws `InvalidRequestError` for settings of one call that are none.
 *
 * @param {string} method
 * @param {unknown} options
 */
function checkRequestOptions(method, options) {
  if (options === undefined || options === null) return;
  const subject = `the options of ${method}`;
  if (typeof options !== "object") {
    throw invalidRequest(`${method} takes { signal, headers } as its options, got a ${typeof options}`, undefined);
  }
  // The members of a signal are on its prototype.
  if ("aborted" in options) throw invalidRequest(`Write { signal } as ${subject}`, undefined);
  const unknown = findUnknown(options, REQUEST_OPTIONS);
  if (unknown === undefined) return;
  const isTimeout = unknown.name === "timeout";
  throw refusal(subject, unknown, isTimeout ? "signal: AbortSignal.timeout(ms)" : suggestMember(unknown));
}

/**
 * Throws a TypeError for options of a function that are no object, or have a member that it does not take.
 *
 * @param {string} subject The function.
 * @param {unknown} options
 * @param {ObjectShape} shape
 */
function checkOptions(subject, options, shape) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${subject} takes an object with ${Object.keys(shape).join(", ")}`);
  }
  const unknown = findUnknown(options, shape);
  if (unknown !== undefined) throw new TypeError(describe(subject, unknown, suggestMember(unknown)));
}

/**
 * @param {object} input
 * @param {ObjectShape} shape
 */
function findIn(input, shape) {
  try {
    return findUnknown(input, shape);
  } catch (cause) {
    // A getter or a proxy of the caller: there is nothing to send.
    throw new ClientError("Transport", { cause });
  }
}

/**
 * The first member that a shape does not have. What is undefined counts as absent. Values of another kind than the
 * shape are for the host to refuse, and what is open is not looked into.
 *
 * @param {unknown} value
 * @param {Shape | undefined} shape
 * @returns {Unknown | undefined}
 */
function findUnknown(value, shape) {
  if (shape === undefined || shape === null || typeof value !== "object" || value === null) return undefined;
  if (isList(shape)) return Array.isArray(value) ? findInItems(value, shape[0]) : undefined;
  if (Array.isArray(value)) return undefined;
  for (const name of Object.keys(value)) {
    const member = /** @type {Record<string, unknown>} */ (value)[name];
    if (member === undefined) continue;
    if (!Object.hasOwn(shape, name)) return { owner: "", name, shape };
    const unknown = findUnknown(member, shape[name]);
    if (unknown !== undefined) return { ...unknown, owner: join(name, unknown.owner) };
  }
  return undefined;
}

/**
 * @param {readonly unknown[]} items
 * @param {Shape | undefined} shape
 * @returns {Unknown | undefined}
 */
function findInItems(items, shape) {
  for (const [index, item] of items.entries()) {
    const unknown = findUnknown(item, shape);
    if (unknown !== undefined) return { ...unknown, owner: join(`[${index}]`, unknown.owner) };
  }
  return undefined;
}

/**
 * @param {string} owner
 * @param {string} rest
 */
function join(owner, rest) {
  return rest === "" || owner === "" || rest.startsWith("[") ? owner + rest : `${owner}.${rest}`;
}

/**
 * @param {string} subject
 * @param {Unknown} unknown
 * @param {string | undefined} intended
 */
function refusal(subject, unknown, intended) {
  return invalidRequest(describe(subject, unknown, intended), join(unknown.owner, unknown.name));
}

/**
 * @param {string} subject
 * @param {Unknown} unknown
 * @param {string | undefined} intended
 */
function describe(subject, { owner, name, shape }, intended) {
  const short = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}...` : name;
  const shown = /^[\w.]+$/.test(short) ? short : JSON.stringify(short);
  const taker = owner === "" ? "which" : `whose ${owner}`;
  const hint = intended === undefined ? "" : `. Did you mean ${intended}?`;
  return `Unknown member ${join(owner, shown)} of ${subject}, ${taker} takes ${Object.keys(shape).join(", ")}${hint}`;
}

/**
 * @param {Operation} operation
 * @param {object} input
 * @param {Unknown} unknown
 */
function suggestForInput(operation, input, unknown) {
  const { owner, name } = unknown;
  if (owner !== "") return suggestMember(unknown);
  if (Object.hasOwn(REQUEST_OPTIONS, name)) {
    return `the second parameter, ${operation.name}({ ... }, { ${name} })`;
  }
  // `id` in the place of `sessionID`.
  const missing = name === "id" ? params(operation).find((param) => !Object.hasOwn(input, param)) : undefined;
  return missing ?? suggestMember(unknown);
}

/**
 * The member that was probably meant: one of the same object, or one of an object in it.
 *
 * @param {Unknown} unknown
 */
function suggestMember({ owner, name, shape }) {
  const inner = Object.entries(shape).flatMap(([outer, it]) => (it === null || isList(it) ? [] : [{ outer, it }]));
  const within = (/** @type {(names: string[]) => string | undefined} */ choose) => {
    for (const { outer, it } of inner) {
      const chosen = choose(Object.keys(it));
      if (chosen !== undefined) return `${outer}: { ${chosen} }`;
    }
    return undefined;
  };
  const exact = within((names) => names.find((other) => other === name));
  if (exact !== undefined) return exact;
  const like = suggest(name, Object.keys(shape));
  return like === undefined ? within((names) => suggest(name, names)) : join(owner, like);
}

/**
 * The members that the input of an operation may have.
 *
 * @param {Operation} operation
 */
function inputShape(operation) {
  const known = inputShapes.get(operation);
  if (known !== undefined) return known;
  const { query, payload, shapes } = operation;
  const names = [...params(operation), ...query, ...(Array.isArray(payload) ? payload : [])];
  const shape = Object.fromEntries(names.map((name) => [name, shapes?.[name] ?? null]));
  inputShapes.set(operation, shape);
  return shape;
}

/**
 * @param {ObjectShape | readonly Shape[]} shape
 * @returns {shape is readonly Shape[]}
 */
function isList(shape) {
  return Array.isArray(shape);
}

module.exports = { checkInput, checkMembers, checkOptions, checkRequestOptions };
