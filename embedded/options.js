"use strict";

const { os, path, url } = require("./builtins.js");
const { checkOptions } = require("./checks.js");
const { resolveLog } = require("./log.js");

/**
 * @typedef {object} NativeOptions What the native host is opened with: nothing is left for it to look up.
 * @property {string} directory
 * @property {string} database An absolute path, or ":memory:".
 * @property {string} home
 * @property {string} dataDirectory
 * @property {string} configDirectory
 * @property {string} cacheDirectory
 * @property {string | undefined} model
 * @property {string | undefined} apiKey
 * @property {string | undefined} baseURL
 * @property {object} config
 * @property {Record<string, string>} env
 * @property {{ omit: readonly string[], keep: readonly string[] }} commandEnvironment
 * @property {"normal" | "full"} durability
 * @property {"manual" | "resume"} recovery
 * @property {{ unanswered: import("../index.js").Unanswered, ceiling: import("../index.js").PermissionRules | undefined }} permissions
 * @property {"never" | "always" | "ask"} trust
 * @property {{ inbox: number, steerBatch: number, subagentDepth: number, subagents: number }} limits
 * @property {{ maxElapsedMs: number, maxAttempts: number, maxDelayMs: number }} retry
 * @property {{ connectMs?: number, firstByteMs?: number, idleMs?: number, requestMs?: number }} deadlines Absent is no limit.
 *
 * @typedef {NativeOptions & { keepAlive: boolean, ptyEnvironment: import("../index.js").PtyEnvironmentHook | undefined, decideTrust: import("../index.js").TrustFunction | undefined, log: import("./log.js").ResolvedLog }} ResolvedOptions
 */

/** Admitted Prompts that may wait in one session. */
const INBOX = 10_000;

/** Levels of child sessions that tasks make below a session that none made. */
const SUBAGENT_DEPTH = 3;

/** Tasks of one session that may run at the same time. */
const SUBAGENTS = 8;

/** Milliseconds that a turn waits in all for a provider that refuses its request for now. */
const MAX_ELAPSED_MS = 300_000;

/** Milliseconds between two requests at most, where the provider names no time. */
const MAX_DELAY_MS = 30_000;

/** Milliseconds until a connection to a provider is there. */
const CONNECT_MS = 10_000;

/** Deadlines for programs in which a user waits for the answer. */
const INTERACTIVE = { firstByteMs: 120_000, idleMs: 60_000 };

/**
 * Checks the options and fills in every default, so that the host reads nothing of this process by itself.
 * Throws the tagged failure `InvalidOptionError`.
 *
 * @param {unknown} given
 * @returns {ResolvedOptions}
 */
function resolveOptions(given) {
  const options = checkOptions(given);
  const env = copyEnv(options.env ?? process.env);
  const home = path.resolve(options.home ?? (env.HOME || os.homedir()));
  // A caller who moves the home directory means all of it; the variables of this process would lead back.
  const xdg = options.home === undefined || options.env !== undefined ? env : {};
  const dataDirectory = options.dataDirectory ?? defaultFolder(xdg.XDG_DATA_HOME, home, ".local/share");
  return {
    directory: path.resolve(options.directory ?? "."),
    database: resolveDatabase(options.database ?? path.join(dataDirectory, "embedded", "opencode.db")),
    home,
    dataDirectory: path.resolve(dataDirectory),
    configDirectory: path.resolve(options.configDirectory ?? defaultFolder(xdg.XDG_CONFIG_HOME, home, ".config")),
    cacheDirectory: path.resolve(options.cacheDirectory ?? defaultFolder(xdg.XDG_CACHE_HOME, home, ".cache")),
    model: options.model,
    apiKey: options.apiKey,
    baseURL: options.baseURL,
    config: options.config ?? {},
    env,
    commandEnvironment: resolveCommandEnvironment(options.commandEnvironment ?? {}),
    durability: options.durability ?? "normal",
    recovery: options.recovery ?? "manual",
    permissions: { unanswered: options.permissions?.unanswered ?? "wait", ceiling: options.permissions?.ceiling },
    ...resolveTrust(options.trust ?? false),
    limits: resolveLimits(options.limits ?? {}),
    retry: resolveRetry(options.retry ?? {}),
    deadlines: resolveDeadlines(options.deadlines ?? {}),
    keepAlive: options.keepAlive ?? true,
    ptyEnvironment: options.ptyEnvironment,
    log: resolveLog(options.log),
  };
}

/**
 * @param {string | undefined} base
 * @param {string} home
 * @param {string} fallback
 */
function defaultFolder(base, home, fallback) {
  return path.join(base || path.join(home, fallback), "opencode");
}

/** @param {string} database */
function resolveDatabase(database) {
  if (database === ":memory:") return database;
  return path.resolve(/^file:/i.test(database) ? url.fileURLToPath(database) : database);
}

/**
 * @param {boolean | import("../index.js").TrustFunction} trust
 * @returns {Pick<ResolvedOptions, "trust" | "decideTrust">}
 */
function resolveTrust(trust) {
  if (typeof trust === "function") return { trust: "ask", decideTrust: trust };
  return { trust: trust ? "always" : "never", decideTrust: undefined };
}

/** @param {import("../index.js").CommandEnvironment} variables */
function resolveCommandEnvironment({ omit = [], keep = [] }) {
  return { omit: [...omit], keep: [...keep] };
}

/** @param {import("../index.js").Limits} limits */
function resolveLimits({ inbox = INBOX, steerBatch = inbox, subagentDepth = SUBAGENT_DEPTH, subagents = SUBAGENTS }) {
  return { inbox, steerBatch, subagentDepth, subagents };
}

/**
 * @param {false | import("../index.js").RetryPolicy} retry
 * @returns {NativeOptions["retry"]}
 */
function resolveRetry(retry) {
  if (retry === false) return { maxElapsedMs: 0, maxAttempts: 1, maxDelayMs: 0 };
  const { maxElapsedMs = MAX_ELAPSED_MS, maxAttempts = Number.MAX_SAFE_INTEGER, maxDelayMs = MAX_DELAY_MS } = retry;
  return { maxElapsedMs, maxAttempts, maxDelayMs };
}

/**
 * @param {"interactive" | import("../index.js").Deadlines} deadlines
 * @returns {NativeOptions["deadlines"]}
 */
function resolveDeadlines(deadlines) {
  const given = deadlines === "interactive" ? INTERACTIVE : deadlines;
  /** @type {NativeOptions["deadlines"]} */
  const resolved = {};
  for (const [name, value] of Object.entries({ connectMs: CONNECT_MS, ...given })) {
    if (typeof value === "number") resolved[/** @type {keyof NativeOptions["deadlines"]} */ (name)] = value;
  }
  return resolved;
}

/**
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Record<string, string>}
 */
function copyEnv(env) {
  /** @type {Record<string, string>} */
  const copy = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) copy[name] = value;
  return copy;
}

module.exports = { resolveOptions };
