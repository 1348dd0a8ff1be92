"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.resolveOptions = resolveOptions;
const builtins_js_1 = require("./builtins.js");
const checks_js_1 = require("./checks.js");
const log_js_1 = require("./log.js");
/**
 * Checks the options, and adds the folders and the environment, so that the native host reads nothing of this process.
 * The native host has the other defaults. Throws the tagged failure `InvalidOptionError`.
 */
function resolveOptions(given) {
    const { keepAlive = true, log, plugins = [], ptyEnvironment, trust = false, ...values } = (0, checks_js_1.checkOptions)(given);
    const env = copyEnv(values.env ?? process.env);
    const decideTrust = typeof trust === "function" ? trust : undefined;
    return {
        native: { ...values, ...resolveFolders(values, env), env, trust: nameTrust(trust) },
        keepAlive,
        // A copy, because the plugins are called later.
        plugins: [...plugins],
        ptyEnvironment,
        decideTrust,
        log: (0, log_js_1.resolveLog)(log),
    };
}
function resolveFolders(options, env) {
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
function nameTrust(trust) {
    if (typeof trust === "function")
        return "ask";
    return trust ? "always" : "never";
}
function copyEnv(env) {
    const copy = {};
    for (const [name, value] of Object.entries(env))
        if (value !== undefined)
            copy[name] = value;
    return copy;
}
