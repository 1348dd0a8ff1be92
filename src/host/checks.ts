// Checks of options. Every failure names the option, such as `limits.inbox` for a member of an option.

import { isTagged } from "../client/errors.js";
import { taggedError } from "../client/failures.js";
import { suggest } from "../client/suggest.js";
import { findWrong, isPlain } from "../client/members.js";

/** Throws the tagged failure `InvalidOptionError` if a value of an option is wrong. */
export type Check = (option: string, value: unknown) => void;

/** The check of each member of an object. */
export type Checks<Name extends string = string> = Readonly<Record<Name, Check>>;

/** Checks the options of a call. Throws the tagged failure `InvalidOptionError`. */
export function checkRecord(given: unknown, checks: Checks) {
  if (given === undefined) return {};
  if (!isRecord(given)) throw invalidOption("options", `The options must be an object, got ${describe(given)}`);
  checkMembers(given, checks, "");
  return given;
}

/**
 * Checks that every member is known and has an allowed value. An undefined member counts as absent.
 *
 * @param prefix Text before the names of members in a failure.
 */
export function checkMembers(given: Record<string, unknown>, checks: Checks, prefix: string) {
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw unknownOption(name, Object.keys(checks), prefix);
    if (value !== undefined) check(prefix + name, value);
  }
}

/** Checks an object. `needed` are the members that it must have. */
export function membersOf<Name extends string>(checks: Checks<Name>, needed: readonly Name[] = []): Check {
  return (option, value) => {
    if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
    checkMembers(value, checks, `${option}.`);
    for (const name of needed) checks[name](`${option}.${name}`, value[name]);
  };
}

/** Checks each member of an object whose members may have any name. */
export function eachOf(check: Check): Check {
  return (option, value) => {
    if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
    for (const [name, member] of Object.entries(value)) check(`${option}.${name}`, member);
  };
}

/** Accepts these values, and checks all others. `expected` describes the others, if the failure must name both. */
export function valueOr(accepted: readonly (string | false)[], check: Check, expected?: string): Check {
  return (option, value) => {
    if (accepted.some((other) => other === value)) return;
    if (expected !== undefined && !isRecord(value)) {
      const listed = accepted.map((other) => JSON.stringify(other)).join(", ");
      throw invalidOption(option, `Option "${option}" must be ${listed} or ${expected}, got ${describe(value)}`);
    }
    check(option, value);
  };
}

/** Checks a whole number within bounds. */
export function wholeNumber(least: number, most?: number): Check {
  return numberWithin("a whole number", Number.isSafeInteger, least, most);
}

/** Checks a number within bounds, which may have a fraction. */
export function anyNumber(least: number, most?: number): Check {
  return numberWithin("a number", (value) => !Number.isNaN(value), least, most);
}

function numberWithin(kind: string, isKind: (value: number) => boolean, least: number, most?: number): Check {
  const bounds = most === undefined ? `from ${least} on` : `from ${least} to ${most}`;
  return (option, value) => {
    const isWithin = typeof value === "number" && value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER);
    if (isWithin && isKind(value)) return;
    throw invalidOption(option, `Option "${option}" must be ${kind} ${bounds}, got ${describe(value)}`);
  };
}

export function checkCount(option: string, value: unknown) {
  wholeNumber(1)(option, value);
}

function unknownOption(name: string, known: readonly string[], prefix: string) {
  const option = prefix + name;
  const intended = suggest(name, known);
  const hint = intended === undefined ? "" : `. Did you mean ${JSON.stringify(prefix + intended)}?`;
  return invalidOption(option, `Unknown option ${JSON.stringify(option)}${hint}`);
}

export function checkText(option: string, value: unknown) {
  if (typeof value !== "string" || value === "") {
    throw invalidOption(option, `Option "${option}" must be a non-empty string, got ${describe(value)}`);
  }
  if (value.includes("\0")) throw invalidOption(option, `Option "${option}" must not contain a NUL character`);
}

/** Its failure does not show the value. */
export function checkSecret(option: string, value: unknown) {
  if (typeof value === "string" && value !== "") return;
  throw invalidOption(option, `Option "${option}" must be a non-empty string`);
}

export function checkTexts(option: string, value: unknown) {
  if (!Array.isArray(value)) throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
  for (const text of value) checkText(option, text);
}

export function checkTextsByName(option: string, value: unknown) {
  // `process.env` has a prototype of its own.
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(option, `Option "${option}" must be an object of strings, got ${describe(value)}`);
  for (const [name, text] of Object.entries(value)) {
    if (text === undefined || typeof text === "string") continue;
    throw invalidOption(
      option,
      `Option "${option}" must hold strings, but ${JSON.stringify(name)} is ${describe(text)}`,
    );
  }
}

/** Checks that JSON represents every value in an open object. */
export function checkJson(option: string, value: unknown) {
  try {
    checkValues(option, value);
    JSON.stringify(value);
  } catch (error) {
    if (isTagged(error, "InvalidOptionError")) throw error;
    const reason = (error as { message: string }).message;
    throw invalidOption(option, `Option "${option}" must be representable as JSON: ${reason}`);
  }
}

/** Refuses values that JSON would change or omit, such as NaN. An empty option is the value itself. */
export function checkValues(option: string, value: unknown) {
  const wrong = findWrong(value);
  if (wrong === undefined || !("expected" in wrong)) return;
  const { owner, expected, received } = wrong;
  const name = option === "" || owner === "" || owner.startsWith("[") ? option + owner : `${option}.${owner}`;
  throw invalidOption(name, `Option "${name}" must be ${expected}, got ${received}`);
}

/** Checks that a value is one of these texts. */
export function oneOf(...choices: string[]): Check {
  const listed = choices.map((choice) => JSON.stringify(choice)).join(" or ");
  return (option, value) => {
    if (choices.some((choice) => choice === value)) return;
    throw invalidOption(option, `Option "${option}" must be ${listed}, got ${describe(value)}`);
  };
}

export function checkBoolean(option: string, value: unknown) {
  if (typeof value === "boolean") return;
  throw invalidOption(option, `Option "${option}" must be true or false, got ${describe(value)}`);
}

export function checkFunction(option: string, value: unknown) {
  if (typeof value === "function") return;
  throw invalidOption(option, `Option "${option}" must be a function, got ${describe(value)}`);
}

/**
 * True for an object without a class, of any realm. An object with a class, such as a Date or a Map, has no members
 * that count as options.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

/** Describes a value in a few words. It does not show the members of an object, which may be secrets. */
export function describe(value: unknown) {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return isPlain(value) ? "an object" : describeClass(value);
  if (typeof value === "string") return value.length > 40 ? "a string" : JSON.stringify(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

function describeClass(value: object) {
  const name = value.constructor?.name as unknown;
  return typeof name === "string" && /^\w{1,40}$/.test(name)
    ? `an object of the class ${name}`
    : "an object of a class";
}

/** The tagged failure about an option. */
export function invalidOption(option: string, message: string) {
  return taggedError({ _tag: "InvalidOptionError", option, message });
}
