// Checks of values that only one option has. `generated/checks.ts` lists the check of each option.

import {
  checkFunction,
  checkJson,
  checkMembers,
  checkText,
  describe,
  invalidOption,
  isRecord,
  wholeNumber,
} from "./checks.js";
import type { Check, Checks } from "./checks.js";

export function checkConfig(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkJson(option, value);
}

export function checkCredentials(option: string, value: unknown) {
  // The functions of a class are in its prototype, for example those of a key chain.
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  for (const name of ["get", "set", "remove"] as const)
    checkFunction(`${option}.${name}`, (value as Partial<Record<typeof name, unknown>>)[name]);
}

/**
 * Checks a path or a URL. A path on Windows may begin with a letter and a colon. SQLite would create a file with the
 * name of any other scheme.
 */
export function checkDatabase(option: string, value: unknown) {
  checkText(option, value);
  const [scheme] = /^[a-z][a-z0-9+.-]+:/i.exec(String(value)) ?? [];
  if (scheme === undefined) return;
  const expected = `Option "${option}" must be a path, a "file:" URL or ":memory:"`;
  if (scheme.toLowerCase() !== "file:")
    throw invalidOption(option, `${expected}, got a value with the scheme "${scheme}"`);
  const { protocol, host, search, hash } = URL.canParse(String(value)) ? new URL(String(value)) : new URL("none:");
  const isPathOnly = protocol === "file:" && host === "" && search === "" && hash === "";
  if (isPathOnly && /^file:\/\/\/./i.test(String(value))) return;
  throw invalidOption(option, `${expected}; a URL must be absolute, without host, query and fragment`);
}

/** The native host checks the form. */
export function checkModel(option: string, value: unknown) {
  if (typeof value === "string") return;
  const example = "openai/gpt-4.1-mini";
  throw invalidOption(option, `${option} must be "provider/model", for example "${example}", got ${describe(value)}`);
}

/** Its failure does not show the value, because a text is a secret. */
export function checkPassword(option: string, value: unknown) {
  if (value === false || (typeof value === "string" && value !== "")) return;
  throw invalidOption(option, `Option "${option}" must be a non-empty string, or false for none`);
}

export function checkPlugins(option: string, value: unknown) {
  if (!Array.isArray(value)) throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
  value.forEach((plugin: unknown, index) => {
    if (typeof plugin === "function") return;
    const name = `${option}[${index}]`;
    throw invalidOption(name, `Option "${name}" must be a function, got ${describe(plugin)}`);
  });
}

/** The native host checks the rules themselves. */
export function checkRules(option: string, value: unknown) {
  if (typeof value === "string" || (typeof value === "object" && value !== null)) return checkJson(option, value);
  const forms = `a list of rules, an object such as { bash: "ask" }, or "allow", "ask" or "deny"`;
  throw invalidOption(option, `Option "${option}" must be ${forms}, got ${describe(value)}`);
}

export function checkTrust(option: string, value: unknown) {
  if (typeof value === "boolean" || typeof value === "function") return;
  throw invalidOption(option, `Option "${option}" must be true, false or a function, got ${describe(value)}`);
}

/** Checks a list of addresses and of objects whose members have these checks. */
export function checkServers(checks: Checks): Check {
  return (option, value) => {
    if (!Array.isArray(value))
      throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
    for (const [place, server] of value.entries()) {
      const name = `${option}[${place}]`;
      if (typeof server === "string") continue;
      if (!isRecord(server) || server["url"] === undefined) {
        throw invalidOption(name, `Option "${name}" must be an address or { url, headers }, got ${describe(server)}`);
      }
      checkMembers(server, checks, `${name}.`);
    }
  };
}

/** Checks a function, a level, or an object whose members have these checks. */
export function checkLog(checks: Checks<"level">): Check {
  return (option, value) => {
    if (typeof value === "function") return;
    if (typeof value === "string") return checks.level(option, value);
    if (!isRecord(value)) {
      throw invalidOption(
        option,
        `Option "${option}" must be a function, a level or an object, got ${describe(value)}`,
      );
    }
    checkMembers(value, checks, `${option}.`);
  };
}

export function checkUnanswered(option: string, value: unknown) {
  if (value === "wait" || value === "deny") return;
  if (!isRecord(value)) {
    throw invalidOption(option, `Option "${option}" must be "wait", "deny" or { denyAfterMs }, got ${describe(value)}`);
  }
  const denyAfterMs = wholeNumber(1);
  checkMembers(value, { denyAfterMs }, `${option}.`);
  denyAfterMs(`${option}.denyAfterMs`, value["denyAfterMs"]);
}
