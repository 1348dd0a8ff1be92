import { connect } from "../client/core.js";
import { taggedError, transportError } from "../client/failures.js";
import { createOperations } from "../client/generated/operations.js";
import { encodeJson } from "../client/request.js";
import { addRuns } from "../client/run/index.js";
import { setBudget } from "./budgets.js";
import { timers } from "./builtins.js";
import { NativeConnection } from "./connection.js";
import { ContextSources } from "./context-sources.js";
import { answerCredentials } from "./credentials.js";
import { asyncDisposable } from "./disposable.js";
import { TerminalEnvironment } from "./environment.js";
import { createFetch } from "./fetch.js";
import { createHandlers } from "./handlers.js";
import { Hooks } from "./hooks.js";
import { listen } from "./listen.js";
import { createSink } from "./log.js";
import { loadAddon } from "./native.js";
import { resolveOptions } from "./options.js";
import { startPlugins } from "./plugins.js";
import { Program } from "./program.js";
import { Providers } from "./providers.js";
import { answerShare } from "./share.js";
import { Tools } from "./tools.js";
import { createNativeTransport } from "./transport.js";
import { importFolder } from "./session-folder.js";
import { answerTrust, createTrust } from "./trust.js";
import type { ListenOptions, OpenCodeHost, OpenCodeOptions, PtyEnvironmentHook, SessionBudget } from "../index.js";
import type { ResolvedLog } from "./log.js";
import type { Addon } from "./native-types.js";
import type { DisposePlugins } from "./plugins.js";
import type { ImportFolderInput } from "./session-folder.js";

/** Opens a host. It loads the addon after it has checked the options. */
export async function openHost(
  options: OpenCodeOptions | undefined,
  load: () => Addon = loadAddon,
): Promise<OpenCodeHost> {
  const { native, keepAlive, plugins, ptyEnvironment, decideTrust, share, credentials, log } = resolveOptions(options);
  const opened = await open(load(), encodeJson(native), log);
  if (typeof opened === "string") throw taggedError(JSON.parse(opened));
  const isLimited = options?.permissions?.unanswered !== undefined;
  const connection = new NativeConnection(opened, keepAlive);
  const program = new Program(connection);
  if (decideTrust !== undefined) answerTrust(connection, program, decideTrust);
  let disposePlugins: DisposePlugins | undefined;
  // Plugins can use the host while they end. Without plugins it is closed at once.
  const close = () => disposePlugins?.().then(() => connection.close()) ?? connection.close();
  const host = createHost(connection, program, isLimited, once(close));
  if (share !== undefined) answerShare(program, host, share);
  if (credentials !== undefined) answerCredentials(program, credentials);
  if (ptyEnvironment !== undefined) host.ptys.environment(ptyEnvironment);
  try {
    disposePlugins = await startPlugins(plugins, host, (message) => connection.warn(message, {}));
  } catch (error) {
    await connection.close();
    throw error;
  }
  // The program can register its tools in the same turn of the event loop, before calls of them are recovered.
  // Not the global function, which tests may replace by one that never calls back.
  timers.setImmediate(() => connection.beginRecovery());
  return host;
}

function once(close: () => Promise<void>) {
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

async function open(addon: Addon, options: string, log: ResolvedLog) {
  const { level, targets } = log;
  try {
    return await addon.open(options, encodeJson({ level, targets }), createSink(log));
  } catch (error) {
    throw transportError(error);
  }
}

/**
 * The client over the native host, with the methods that only a host has.
 *
 * @param isLimited True if the host decides about requests without an answer.
 */
function createHost(
  connection: NativeConnection,
  program: Program,
  isLimited: boolean,
  close: () => Promise<void>,
): OpenCodeHost {
  const built = createOperations(connect(createNativeTransport(connection)));
  const { handlePermissions, handleQuestions, isHandled } = createHandlers(connection, built);
  const client = addRuns(built, (kind) => isLimited || isHandled(kind));
  const environment = new TerminalEnvironment(connection, program);
  const tools = new Tools(connection, program);
  const contextSources = new ContextSources(connection, program);
  const hooks = new Hooks(connection, program);
  const providers = new Providers(connection, program);
  const host = {
    ...client,
    location: { ...client.location, trust: createTrust(connection) },
    sessions: {
      ...client.sessions,
      importFolder: (input: ImportFolderInput) => importFolder(client.sessions.importDocument, input),
    },
    permissions: { ...client.permissions, handle: handlePermissions },
    questions: { ...client.questions, handle: handleQuestions },
    ptys: {
      ...client.ptys,
      environment: (hook: PtyEnvironmentHook) => environment.register(hook),
    },
    providers: { ...client.providers, register: providers.register.bind(providers) },
    tools: { register: tools.register.bind(tools) } as OpenCodeHost["tools"],
    contextSources: {
      register: contextSources.register.bind(contextSources),
    } as OpenCodeHost["contextSources"],
    hooks: {
      onPrompt: hooks.at("onPrompt"),
      onRequest: hooks.at("onRequest"),
      onCompaction: hooks.at("onCompaction"),
      onToolCall: hooks.at("onToolCall"),
      onToolResult: hooks.at("onToolResult"),
    },
    fetch: createFetch(connection),
    listen: (options?: ListenOptions) => listen(connection, options),
    setBudget: (budget: SessionBudget) => setBudget(connection, budget),
    close,
  };
  return asyncDisposable(host, close);
}
