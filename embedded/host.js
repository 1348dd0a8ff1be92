"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.openHost = openHost;
const core_js_1 = require("../client/core.js");
const failures_js_1 = require("../client/failures.js");
const operations_js_1 = require("../client/generated/operations.js");
const request_js_1 = require("../client/request.js");
const index_js_1 = require("../client/run/index.js");
const builtins_js_1 = require("./builtins.js");
const connection_js_1 = require("./connection.js");
const context_sources_js_1 = require("./context-sources.js");
const disposable_js_1 = require("./disposable.js");
const environment_js_1 = require("./environment.js");
const fetch_js_1 = require("./fetch.js");
const handlers_js_1 = require("./handlers.js");
const hooks_js_1 = require("./hooks.js");
const listen_js_1 = require("./listen.js");
const log_js_1 = require("./log.js");
const native_js_1 = require("./native.js");
const options_js_1 = require("./options.js");
const plugins_js_1 = require("./plugins.js");
const program_js_1 = require("./program.js");
const tools_js_1 = require("./tools.js");
const transport_js_1 = require("./transport.js");
const trust_js_1 = require("./trust.js");
/** Opens a host. It loads the addon after it has checked the options. */
async function openHost(options, load = native_js_1.loadAddon) {
    const { native, keepAlive, plugins, ptyEnvironment, decideTrust, log } = (0, options_js_1.resolveOptions)(options);
    const opened = await open(load(), (0, request_js_1.encodeJson)(native), log);
    if (typeof opened === "string")
        throw (0, failures_js_1.taggedError)(JSON.parse(opened));
    const isLimited = options?.permissions?.unanswered !== undefined;
    const connection = new connection_js_1.NativeConnection(opened, keepAlive);
    const program = new program_js_1.Program(connection);
    if (decideTrust !== undefined)
        (0, trust_js_1.answerTrust)(connection, program, decideTrust);
    let disposePlugins;
    // Plugins can use the host while they end. Without plugins it is closed at once.
    const close = () => disposePlugins?.().then(() => connection.close()) ?? connection.close();
    const host = createHost(connection, program, isLimited, once(close));
    if (ptyEnvironment !== undefined)
        host.ptys.environment(ptyEnvironment);
    try {
        disposePlugins = await (0, plugins_js_1.startPlugins)(plugins, host, (message) => connection.warn(message, {}));
    }
    catch (error) {
        await connection.close();
        throw error;
    }
    // The program can register its tools in the same turn of the event loop, before calls of them are recovered.
    // Not the global function, which tests may replace by one that never calls back.
    builtins_js_1.timers.setImmediate(() => connection.beginRecovery());
    return host;
}
function once(close) {
    let closing;
    return () => (closing ??= close());
}
async function open(addon, options, log) {
    const { level, targets } = log;
    try {
        return await addon.open(options, (0, request_js_1.encodeJson)({ level, targets }), (0, log_js_1.createSink)(log));
    }
    catch (error) {
        throw (0, failures_js_1.transportError)(error);
    }
}
/**
 * The client over the native host, with the methods that only a host has.
 *
 * @param isLimited True if the host decides about requests without an answer.
 */
function createHost(connection, program, isLimited, close) {
    const built = (0, operations_js_1.createOperations)((0, core_js_1.connect)((0, transport_js_1.createNativeTransport)(connection)));
    const { handlePermissions, handleQuestions, isHandled } = (0, handlers_js_1.createHandlers)(connection, built);
    const client = (0, index_js_1.addRuns)(built, (kind) => isLimited || isHandled(kind));
    const environment = new environment_js_1.TerminalEnvironment(connection);
    const tools = new tools_js_1.Tools(connection, program);
    const contextSources = new context_sources_js_1.ContextSources(connection, program);
    const hooks = new hooks_js_1.Hooks(connection, program);
    const host = {
        ...client,
        location: { ...client.location, trust: (0, trust_js_1.createTrust)(connection) },
        permissions: { ...client.permissions, handle: handlePermissions },
        questions: { ...client.questions, handle: handleQuestions },
        ptys: {
            ...client.ptys,
            environment: (hook) => environment.register(hook),
        },
        tools: { register: tools.register.bind(tools) },
        contextSources: {
            register: contextSources.register.bind(contextSources),
        },
        hooks: {
            onPrompt: hooks.at("onPrompt"),
            onRequest: hooks.at("onRequest"),
            onCompaction: hooks.at("onCompaction"),
            onToolCall: hooks.at("onToolCall"),
            onToolResult: hooks.at("onToolResult"),
        },
        fetch: (0, fetch_js_1.createFetch)(connection),
        listen: (options) => (0, listen_js_1.listen)(connection, options),
        close,
    };
    return (0, disposable_js_1.asyncDisposable)(host, close);
}
