// Unknown members of inputs, and values that JSON cannot represent. The client refuses them before it sends a request: a
// server would not learn of them.

import { ClientError } from "./errors.js";
import { invalidRequest, params } from "./shape.js";
import { suggest } from "./suggest.js";
import type { ObjectShape, Operation, Shape } from "./operation.js";
import type { RequestOptions } from "./types.js";

interface Unknown {
  /** Path of the object with the member. Empty for the input itself. */
  owner: string;
  name: string;
  /** The allowed members of the object. */
  shape: ObjectShape;
}

/** A value that JSON would change or omit. */
interface Lost {
  /** Path of the value, such as `budget.cost` or `permission[0].effect`. Empty for the input itself. */
  owner: string;
  /** The kind of value that is needed, such as "a finite number". */
  expected: string;
  /** A few words about the value. They show no text of the caller. */
  received: string;
}

const REQUEST_OPTIONS: Readonly<Record<keyof RequestOptions, Shape>> = { signal: null, headers: null };

// Longest name that a failure shows, in UTF-16 code units.
const MAX_SHOWN = 60;

const inputShapes: WeakMap<Operation, ObjectShape> = new WeakMap();

/**
 * Throws `InvalidRequestError` if the input has a member that the operation does not take, or a value that JSON would
 * change or omit.
 */
export function checkInput(operation: Operation, input: object) {
  check(operation.name, input, inputShape(operation), (unknown) => suggestForInput(operation, input, unknown));
}

/** Throws `InvalidRequestError` as `checkInput` does, for the input of a method that is not an operation. */
export function checkMembers(method: string, input: object, shape: ObjectShape) {
  check(method, input, shape, suggestMember);
}

function check(
  method: string,
  input: object,
  shape: ObjectShape,
  suggestFor: (unknown: Unknown) => string | undefined,
) {
  let wrong: Unknown | Lost | undefined;
  try {
    wrong = findWrong(input, shape);
  } catch (cause) {
    // A getter or a proxy of the caller has thrown, so there is nothing to send.
    throw new ClientError("Transport", { cause });
  }
  if (wrong === undefined) return;
  if ("name" in wrong) throw refusal(method, wrong, suggestFor(wrong));
  throw invalidRequest(`${wrong.owner}: expected ${wrong.expected}, received ${wrong.received}`, wrong.owner);
}

/** Throws `InvalidRequestError` if the options of a call are wrong. */
export function checkRequestOptions(method: string, options: unknown) {
  if (options === undefined || options === null) return;
  // The members of a signal are on its prototype.
  const kind = typeof options !== "object" ? `a ${typeof options}` : "aborted" in options ? "a signal" : undefined;
  if (kind !== undefined) {
    throw invalidRequest(`${method} takes { signal, headers } as its options, got ${kind}`, undefined);
  }
  const unknown = findUnknown(options as object, REQUEST_OPTIONS);
  if (unknown === undefined) return;
  const isTimeout = unknown.name === "timeout";
  throw refusal(
    `the options of ${method}`,
    unknown,
    isTimeout ? "signal: AbortSignal.timeout(ms)" : suggestMember(unknown),
  );
}

/**
 * Throws a TypeError if the options of a function are not an object, or have an unknown member.
 *
 * @param subject Name of the function.
 */
export function checkOptions(subject: string, options: unknown, shape: ObjectShape) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`${subject} takes an object with ${Object.keys(shape).join(", ")}`);
  }
  const unknown = findUnknown(options, shape);
  if (unknown !== undefined) throw new TypeError(describe(subject, unknown, suggestMember(unknown)));
}

/** The first member that the options of a function do not have. */
function findUnknown(options: object, shape: ObjectShape): Unknown | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(shape, name)) return { owner: "", name, shape };
  }
  return undefined;
}

/**
 * The first member that a shape does not have, or the first value that JSON would change or omit: a number that is not
 * finite, an invalid date, a bigint, a function, a symbol, or an object of a class without members, such as a promise or
 * a map. A bound that a program computed would vanish otherwise. An undefined member counts as absent. The host checks
 * the kinds of values and the content of open objects.
 */
export function findWrong(value: unknown, shape?: Shape): Unknown | Lost | undefined {
  const kind = typeof value;
  if (kind === "number" && !Number.isFinite(value)) return lost(value, "a finite number");
  if (["bigint", "function", "symbol"].includes(kind)) return lost(`a ${kind}`);
  if (kind !== "object" || value === null) return undefined;
  const owner = value as Record<string, unknown>;
  if (typeof owner.toJSON === "function") {
    const replacement: unknown = owner.toJSON("");
    // An invalid date replaces itself by null.
    return replacement === null ? lost(owner) : findWrong(replacement, shape);
  }
  const isArray = Array.isArray(owner);
  const closed = isArray || Array.isArray(shape) ? undefined : (shape as ObjectShape | undefined);
  const members = Object.entries(owner);
  if (members.length === 0 && !isArray && !isPlain(owner)) return lost(owner);
  for (const [name, member] of members) {
    if (member === undefined) continue;
    if (closed && !Object.hasOwn(closed, name)) return { owner: "", name, shape: closed };
    const wrong = findWrong(member, isArray ? (shape as readonly Shape[])?.[0] : closed?.[name]);
    if (wrong) return { ...wrong, owner: join(isArray ? `[${name}]` : name, wrong.owner) };
  }
  return undefined;
}

function lost(received: unknown, expected = "a value of JSON"): Lost {
  return { owner: "", expected, received: `${received}` };
}

/**
 * True if the prototype has no prototype. Such an object is a plain object of its realm. `instanceof` does not
 * recognise objects of other realms.
 */
export function isPlain(value: object) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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
  // `id` instead of `sessionID`.
  const missing = name === "id" ? params(operation).find((param) => !Object.hasOwn(input, param)) : undefined;
  return missing ?? suggestMember(unknown);
}

/** The name that the caller probably meant: a member of the same object, or of an object in it. */
function suggestMember({ owner, name, shape }: Unknown) {
  const inner = Object.entries(shape).filter(([, it]) => it !== null && !Array.isArray(it));
  const within = (choose: (names: string[]) => string | undefined) => {
    for (const [outer, it] of inner) {
      const chosen = choose(Object.keys(it as ObjectShape));
      if (chosen !== undefined) return `${outer}: { ${chosen} }`;
    }
    return undefined;
  };
  const exact = within((names) => names.find((other) => other === name));
  if (exact !== undefined) return exact;
  const like = suggest(name, Object.keys(shape));
  return like === undefined ? within((names) => suggest(name, names)) : join(owner, like);
}

/** The allowed members of the input of an operation. */
function inputShape(operation: Operation) {
  const known = inputShapes.get(operation);
  if (known !== undefined) return known;
  const { query = [], payload = [], shapes } = operation;
  const names = [...params(operation), ...query, ...(payload === "lines" ? [] : payload)];
  const shape = Object.fromEntries(names.map((name) => [name, shapes?.[name] ?? null]));
  inputShapes.set(operation, shape);
  return shape;
}
