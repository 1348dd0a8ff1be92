// Members that an input does not have. A caller that misspells one, or puts it at the wrong place, learns it before
// anything is sent; a server would ignore the member.

import { ClientError } from "./errors.js";
import { invalidRequest, params } from "./shape.js";
import { suggest } from "./suggest.js";
import type { ObjectShape, Operation, Shape } from "./operation.js";
import type { RequestOptions } from "./types.js";

interface Unknown {
  /** Where the object is that has the member; empty for the input itself. */
  owner: string;
  name: string;
  /** What the object may have. */
  shape: ObjectShape;
}

const REQUEST_OPTIONS: Readonly<Record<keyof RequestOptions, Shape>> = { signal: null, headers: null };

// Longest name of a caller that is shown.
const MAX_SHOWN = 60;

const inputShapes: WeakMap<Operation, ObjectShape> = new WeakMap();

/** Throws `InvalidRequestError` for a member that the input of an operation does not have. */
export function checkInput(operation: Operation, input: object) {
  const unknown = findIn(input, inputShape(operation));
  if (unknown === undefined) return;
  const { group, name } = operation;
  throw refusal(`${group}.${name}`, unknown, suggestForInput(operation, input, unknown));
}

/** Throws `InvalidRequestError` for an input of a method that is no operation. */
export function checkMembers(method: string, input: object, shape: ObjectShape) {
  const unknown = findIn(input, shape);
  if (unknown !== undefined) throw refusal(method, unknown, suggestMember(unknown));
}

/** Throws `InvalidRequestError` for settings of one call that are none. */
export function checkRequestOptions(method: string, options: unknown) {
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
 * @param subject The function.
 */
export function checkOptions(subject: string, options: unknown, shape: ObjectShape) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${subject} takes an object with ${Object.keys(shape).join(", ")}`);
  }
  const unknown = findUnknown(options, shape);
  if (unknown !== undefined) throw new TypeError(describe(subject, unknown, suggestMember(unknown)));
}

function findIn(input: object, shape: ObjectShape) {
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
 */
function findUnknown(value: unknown, shape: Shape | undefined): Unknown | undefined {
  if (shape === undefined || shape === null || typeof value !== "object" || value === null) return undefined;
  if (isList(shape)) return Array.isArray(value) ? findInItems(value, shape[0]) : undefined;
  if (Array.isArray(value)) return undefined;
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    if (!Object.hasOwn(shape, name)) return { owner: "", name, shape };
    const unknown = findUnknown(member, shape[name]);
    if (unknown !== undefined) return { ...unknown, owner: join(name, unknown.owner) };
  }
  return undefined;
}

function findInItems(items: readonly unknown[], shape: Shape | undefined): Unknown | undefined {
  for (const [index, item] of items.entries()) {
    const unknown = findUnknown(item, shape);
    if (unknown !== undefined) return { ...unknown, owner: join(`[${index}]`, unknown.owner) };
  }
  return undefined;
}

function join(owner: string, rest: string) {
  return rest === "" || owner === "" || rest.startsWith("[") ? owner + rest : `${owner}.${rest}`;
}

function refusal(subject: string, unknown: Unknown, intended: string | undefined) {
  return invalidRequest(describe(subject, unknown, intended), join(unknown.owner, unknown.name));
}

function describe(subject: string, { owner, name, shape }: Unknown, intended: string | undefined) {
  const short = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}...` : name;
  const shown = /^[\w.]+$/.test(short) ? short : JSON.stringify(short);
  const taker = owner === "" ? "which" : `whose ${owner}`;
  const hint = intended === undefined ? "" : `. Did you mean ${intended}?`;
  return `Unknown member ${join(owner, shown)} of ${subject}, ${taker} takes ${Object.keys(shape).join(", ")}${hint}`;
}

function suggestForInput(operation: Operation, input: object, unknown: Unknown) {
  const { owner, name } = unknown;
  if (owner !== "") return suggestMember(unknown);
  if (Object.hasOwn(REQUEST_OPTIONS, name)) {
    return `the second parameter, ${operation.name}({ ... }, { ${name} })`;
  }
  // `id` in the place of `sessionID`.
  const missing = name === "id" ? params(operation).find((param) => !Object.hasOwn(input, param)) : undefined;
  return missing ?? suggestMember(unknown);
}

/** The member that was probably meant: one of the same object, or one of an object in it. */
function suggestMember({ owner, name, shape }: Unknown) {
  const inner = Object.entries(shape).flatMap(([outer, it]) => (it === null || isList(it) ? [] : [{ outer, it }]));
  const within = (choose: (names: string[]) => string | undefined) => {
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

/** The members that the input of an operation may have. */
function inputShape(operation: Operation) {
  const known = inputShapes.get(operation);
  if (known !== undefined) return known;
  const { query, payload, shapes } = operation;
  const names = [...params(operation), ...query, ...(payload === null || payload === "lines" ? [] : payload)];
  const shape = Object.fromEntries(names.map((name) => [name, shapes?.[name] ?? null]));
  inputShapes.set(operation, shape);
  return shape;
}

function isList(shape: ObjectShape | readonly Shape[]): shape is readonly Shape[] {
  return Array.isArray(shape);
}
