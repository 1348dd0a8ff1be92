"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.resolveOptions = resolveOptions;
const builtins_js_1 = require("./builtins.js");
const checks_js_1 = require("./checks.js");
const log_js_1 = require("./log.js");
/** Admitted Prompts that may wait in one session. */
const INBOX = 10_000;
/** Levels of child sessions below a session that is not a child. */
const SUBAGENT_DEPTH = 3;
/** Tasks of one session that may run at the same time. */
const SUBAGENTS = 8;
/** Total wait of a turn for a provider that is unavailable, in milliseconds. */
const MAX_ELAPSED_MS = 300_000;
/** Longest delay between two requests in milliseconds, unless the provider names a time. */
const MAX_DELAY_MS = 30_000;
/** Time limit for a connection to a provider in milliseconds. */
const CONNECT_MS = 10_000;
/** Deadlines for programs with a waiting user. */
const INTERACTIVE = { firstByteMs: 120_000, idleMs: 60_000 };
/**
 * Checks the options and adds all defaults, so that the native host reads nothing of this process. Throws the tagged
 * failure `InvalidOptionError`.
 */
function resolveOptions(given) {
    const options = (0, checks_js_1.checkOptions)(given);
    const env = copyEnv(options.env ?? process.env);
    const home = builtins_js_1.path.resolve(options.home ?? (env.HOME || builtins_js_1.os.homedir()));
    // With another home directory the variables of this process do not apply. They would point to the real home.
    const xdg = options.home === undefined || options.env !== undefined ? env : {};
    const dataDirectory = options.dataDirectory ?? defaultFolder(xdg.XDG_DATA_HOME, home, ".local/share");
    return {
        directory: builtins_js_1.path.resolve(options.directory ?? "."),
        database: resolveDatabase(options.database ?? builtins_js_1.path.join(dataDirectory, "embedded", "opencode.db")),
        home,
        dataDirectory: builtins_js_1.path.resolve(dataDirectory),
        configDirectory: builtins_js_1.path.resolve(options.configDirectory ?? defaultFolder(xdg.XDG_CONFIG_HOME, home, ".config")),
        cacheDirectory: builtins_js_1.path.resolve(options.cacheDirectory ?? defaultFolder(xdg.XDG_CACHE_HOME, home, ".cache")),
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
        log: (0, log_js_1.resolveLog)(options.log),
    };
}
function defaultFolder(base, home, fallback) {
    return builtins_js_1.path.join(base || builtins_js_1.path.join(home, fallback), "opencode");
}
function resolveDatabase(database) {
    if (database === ":memory:")
        return database;
    return builtins_js_1.path.resolve(/^file:/i.test(database) ? builtins_js_1.url.fileURLToPath(database) : database);
}
function resolveTrust(trust) {
    if (typeof trust === "function")
        return { trust: "ask", decideTrust: trust };
    return { trust: trust ? "always" : "never", decideTrust: undefined };
}
function resolveCommandEnvironment({ omit = [], keep = [] }) {
    return { omit: [...omit], keep: [...keep] };
}
function resolveLimits({ inbox = INBOX, steerBatch = inbox, subagentDepth = SUBAGENT_DEPTH, subagents = SUBAGENTS, }) {
    return { inbox, steerBatch, subagentDepth, subagents };
}
function resolveRetry(retry) {
    if (retry === false)
        return { maxElapsedMs: 0, maxAttempts: 1, maxDelayMs: 0 };
    const { maxElapsedMs = MAX_ELAPSED_MS, maxAttempts = Number.MAX_SAFE_INTEGER, maxDelayMs = MAX_DELAY_MS } = retry;
    return { maxElapsedMs, maxAttempts, maxDelayMs };
}
function resolveDeadlines(deadlines) {
    const given = deadlines === "interactive" ? INTERACTIVE : deadlines;
    const resolved = {};
    for (const [name, value] of Object.entries({ connectMs: CONNECT_MS, ...given })) {
        if (typeof value === "number")
            resolved[name] = value;
    }
    return resolved;
}
function copyEnv(env) {
    const copy = {};
    for (const [name, value] of Object.entries(env))
        if (value !== undefined)
            copy[name] = value;
    return copy;
}
