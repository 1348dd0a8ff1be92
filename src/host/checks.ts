// Checks of the options. Every failure names the option, such as `limits.inbox` for a member of an option.

import { isTagged } from "../client/errors.js";
import { taggedError } from "../client/failures.js";
import { suggest } from "../client/suggest.js";
import { findWrong, isPlain } from "../client/members.js";
import type {
  Budgets,
  CommandEnvironment,
  Deadlines,
  Limits,
  ListenOptions,
  LogOptions,
  OpenCodeOptions,
  PermissionOptions,
  ProviderOAuth,
  RetryPolicy,
  SessionBudget,
  ShareOptions,
} from "../index.js";

type Check = (option: string, value: unknown) => void;

const LIMITS: Readonly<Record<keyof Limits, Check>> = {
  inbox: checkCount,
  steerBatch: checkCount,
  subagentDepth: checkCount,
  subagents: checkCount,
  toolCallsPerTurn: checkCount,
  toolCallsAtOnce: checkCount,
};

const BUDGET: Readonly<Record<keyof SessionBudget, Check>> = {
  tokens: checkAmount,
  cost: checkCost,
  turns: checkAmount,
  durationMs: checkAmount,
};

const BUDGETS: Readonly<Record<keyof Budgets, Check>> = { session: checkBudget, host: checkBudget };

const RETRY: Readonly<Record<keyof RetryPolicy, Check>> = {
  maxElapsedMs: checkCount,
  maxAttempts: checkCount,
  maxDelayMs: checkCount,
};

const DEADLINES: Readonly<Record<keyof Deadlines, Check>> = {
  connectMs: checkDeadline,
  firstByteMs: checkDeadline,
  idleMs: checkDeadline,
  requestMs: checkDeadline,
};

const PERMISSIONS: Readonly<Record<keyof PermissionOptions, Check>> = {
  unanswered: checkUnanswered,
  ceiling: checkRules,
};

const SHARE: Readonly<Record<keyof ShareOptions, Check>> = {
  publish: checkFunction,
  remove: checkFunction,
  mode: oneOf("manual", "auto"),
};

const OAUTH: Readonly<Record<keyof ProviderOAuth, Check>> = {
  clientId: checkText,
  clientSecret: checkSecret,
  tokenUrl: checkText,
  authorizationUrl: checkText,
  deviceUrl: checkText,
  redirectUrl: checkText,
  scopes: checkTexts,
  parameters: checkEnv,
};

const COMMAND_ENVIRONMENT: Readonly<Record<keyof CommandEnvironment, Check>> = { omit: checkTexts, keep: checkTexts };

const checkLevel = oneOf("off", "error", "warn", "info", "debug", "trace");

/** The parts of a host that write to the log. */
const LOG_TARGETS = [
  "context",
  "downloads",
  "git",
  "guard",
  "handlers",
  "handles",
  "host",
  "llm",
  "location",
  "log",
  "mcp",
  "oauth",
  "protocol",
  "pty",
  "runtime",
  "server",
  "snapshots",
  "store",
  "tools",
].map((part) => `opencode::${part}`);

const LOG: Readonly<Record<keyof LogOptions, Check>> = {
  level: checkLevel,
  targets: checkTargets,
  sink: checkFunction,
};

const OPTIONS: Readonly<Record<keyof OpenCodeOptions, Check>> = {
  directory: checkText,
  database: checkDatabase,
  home: checkText,
  dataDirectory: checkText,
  configDirectory: checkText,
  cacheDirectory: checkText,
  managedConfigDirectory: checkText,
  remoteConfig: checkServers,
  model: checkModel,
  apiKey: checkSecret,
  baseURL: checkSecret,
  config: checkConfig,
  mcp: checkConfig,
  env: checkEnv,
  commandEnvironment: checkCommandEnvironment,
  durability: oneOf("normal", "full"),
  recovery: oneOf("manual", "resume"),
  timezone: checkText,
  titles: checkBoolean,
  refreshModels: checkBoolean,
  reminders: checkBoolean,
  share: checkShare,
  credentials: checkCredentials,
  oauth: checkOAuth,
  keepAlive: checkBoolean,
  permissions: checkPermissions,
  trust: checkTrust,
  limits: checkLimits,
  log: checkLog,
  retry: checkRetry,
  budgets: checkBudgets,
  fallback: checkTexts,
  deadlines: checkDeadlines,
  plugins: checkPlugins,
  ptyEnvironment: checkFunction,
};

const LISTEN_OPTIONS: Readonly<Record<keyof ListenOptions, Check>> = {
  port: checkPort,
  hostname: checkText,
  password: checkPassword,
  username: checkText,
  cors: checkTexts,
  maxBodyBytes: checkCount,
};

/** Throws the tagged failure `InvalidOptionError`. */
export function checkOptions(given: unknown): OpenCodeOptions {
  return checkRecord(given, OPTIONS);
}

/** Throws the tagged failure `InvalidOptionError`. */
export function checkListenOptions(given: unknown): ListenOptions {
  return checkRecord(given, LISTEN_OPTIONS);
}

function checkPlugins(option: string, value: unknown) {
  if (!Array.isArray(value)) throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
  value.forEach((plugin: unknown, index) => {
    if (typeof plugin === "function") return;
    const name = `${option}[${index}]`;
    throw invalidOption(name, `Option "${name}" must be a function, got ${describe(plugin)}`);
  });
}

function checkRecord(given: unknown, checks: Readonly<Record<string, Check>>) {
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
export function checkMembers(given: Record<string, unknown>, checks: Readonly<Record<string, Check>>, prefix: string) {
  for (const [name, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw unknownOption(name, Object.keys(checks), prefix);
    if (value !== undefined) check(prefix + name, value);
  }
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

/**
 * Checks a path or a URL. A path on Windows may begin with a letter and a colon. SQLite would create a file with the
 * name of any other scheme.
 */
function checkDatabase(option: string, value: unknown) {
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

/** Its failure does not show the value. */
function checkSecret(option: string, value: unknown) {
  if (typeof value === "string" && value !== "") return;
  throw invalidOption(option, `Option "${option}" must be a non-empty string`);
}

/** Its failure does not show the value, because a text is a secret. */
function checkPassword(option: string, value: unknown) {
  if (value === false || (typeof value === "string" && value !== "")) return;
  throw invalidOption(option, `Option "${option}" must be a non-empty string, or false for none`);
}

/** The native host checks the form. */
function checkModel(option: string, value: unknown) {
  if (typeof value === "string") return;
  const example = "openai/gpt-4.1-mini";
  throw invalidOption(option, `${option} must be "provider/model", for example "${example}", got ${describe(value)}`);
}

export function checkTexts(option: string, value: unknown) {
  if (!Array.isArray(value)) throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
  for (const text of value) checkText(option, text);
}

function checkPort(option: string, value: unknown) {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65_535) return;
  throw invalidOption(option, `Option "${option}" must be a whole number from 0 to 65535, got ${describe(value)}`);
}

function checkConfig(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkJson(option, value);
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

function checkServers(option: string, value: unknown) {
  if (!Array.isArray(value)) throw invalidOption(option, `Option "${option}" must be an array, got ${describe(value)}`);
  for (const [place, server] of value.entries()) {
    const name = `${option}[${place}]`;
    if (typeof server === "string") continue;
    if (!isRecord(server) || server["url"] === undefined) {
      throw invalidOption(name, `Option "${name}" must be an address or { url, headers }, got ${describe(server)}`);
    }
    checkMembers(server, { url: checkText, headers: checkEnv }, `${name}.`);
  }
}

function checkEnv(option: string, value: unknown) {
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

function checkCommandEnvironment(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, COMMAND_ENVIRONMENT, `${option}.`);
}

function oneOf(...choices: string[]): Check {
  const listed = choices.map((choice) => JSON.stringify(choice)).join(" or ");
  return (option, value) => {
    if (choices.some((choice) => choice === value)) return;
    throw invalidOption(option, `Option "${option}" must be ${listed}, got ${describe(value)}`);
  };
}

function checkBoolean(option: string, value: unknown) {
  if (typeof value === "boolean") return;
  throw invalidOption(option, `Option "${option}" must be true or false, got ${describe(value)}`);
}

export function checkFunction(option: string, value: unknown) {
  if (typeof value === "function") return;
  throw invalidOption(option, `Option "${option}" must be a function, got ${describe(value)}`);
}

function checkLimits(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, LIMITS, `${option}.`);
}

function checkShare(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, SHARE, `${option}.`);
  // Without one of them a session could not be shared, or never be unshared.
  for (const name of ["publish", "remove"]) checkFunction(`${option}.${name}`, value[name]);
}

function checkOAuth(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  for (const [provider, settings] of Object.entries(value)) {
    const name = `${option}.${provider}`;
    if (!isRecord(settings)) throw invalidOption(name, `Option "${name}" must be an object, got ${describe(settings)}`);
    checkMembers(settings, OAUTH, `${name}.`);
    for (const needed of ["clientId", "tokenUrl"]) checkText(`${name}.${needed}`, settings[needed]);
  }
}

function checkBudgets(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, BUDGETS, `${option}.`);
}

export function checkBudget(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, BUDGET, `${option}.`);
}

function checkAmount(option: string, value: unknown) {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return;
  throw invalidOption(option, `Option "${option}" must be a whole number from 0 on, got ${describe(value)}`);
}

function checkCost(option: string, value: unknown) {
  if (typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return;
  throw invalidOption(option, `Option "${option}" must be a number from 0 on, got ${describe(value)}`);
}

function checkCredentials(option: string, value: unknown) {
  // The functions of a class are in its prototype, for example those of a key chain.
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  for (const name of ["get", "set", "remove"] as const)
    checkFunction(`${option}.${name}`, (value as Partial<Record<typeof name, unknown>>)[name]);
}

function checkRetry(option: string, value: unknown) {
  if (value === false) return;
  if (!isRecord(value))
    throw invalidOption(option, `Option "${option}" must be false or an object, got ${describe(value)}`);
  checkMembers(value, RETRY, `${option}.`);
}

function checkDeadlines(option: string, value: unknown) {
  if (value === "interactive") return;
  if (!isRecord(value)) {
    throw invalidOption(option, `Option "${option}" must be "interactive" or an object, got ${describe(value)}`);
  }
  checkMembers(value, DEADLINES, `${option}.`);
}

function checkDeadline(option: string, value: unknown) {
  if (value !== false) checkCount(option, value);
}

function checkPermissions(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, PERMISSIONS, `${option}.`);
}

/** The native host checks the rules themselves. */
function checkRules(option: string, value: unknown) {
  if (typeof value === "string" || (typeof value === "object" && value !== null)) return checkJson(option, value);
  const forms = `a list of rules, an object such as { bash: "ask" }, or "allow", "ask" or "deny"`;
  throw invalidOption(option, `Option "${option}" must be ${forms}, got ${describe(value)}`);
}

function checkTrust(option: string, value: unknown) {
  if (typeof value === "boolean" || typeof value === "function") return;
  throw invalidOption(option, `Option "${option}" must be true, false or a function, got ${describe(value)}`);
}

function checkLog(option: string, value: unknown) {
  if (typeof value === "function") return;
  if (typeof value === "string") return checkLevel(option, value);
  if (!isRecord(value)) {
    throw invalidOption(option, `Option "${option}" must be a function, a level or an object, got ${describe(value)}`);
  }
  checkMembers(value, LOG, `${option}.`);
}

function checkTargets(option: string, value: unknown) {
  if (!isRecord(value)) throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  checkMembers(value, Object.fromEntries(LOG_TARGETS.map((target) => [target, checkLevel])), `${option}.`);
}

function checkUnanswered(option: string, value: unknown) {
  if (value === "wait" || value === "deny") return;
  if (!isRecord(value)) {
    throw invalidOption(option, `Option "${option}" must be "wait", "deny" or { denyAfterMs }, got ${describe(value)}`);
  }
  checkMembers(value, { denyAfterMs: checkCount }, `${option}.`);
  checkCount(`${option}.denyAfterMs`, value.denyAfterMs);
}

export function checkCount(option: string, value: unknown) {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return;
  throw invalidOption(option, `Option "${option}" must be a whole number from 1 on, got ${describe(value)}`);
}

/**
 * True for an object without a class, of any realm. An object with a class, such as a Date or a Map, has no members
 * that count as options.
 */
function isRecord(value: unknown): value is Record<string, unknown> {
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
