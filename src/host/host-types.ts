/// <reference lib="esnext.disposable" preserve="true" />

// The public types of the host, except those of its options and of its registrations.

import type {
  OpenCodeClient,
  PermissionReply,
  PermissionRequest,
  QuestionRequest,
  SessionBudget,
} from "../client/index.js";
import type { HostContextSources } from "./context-source-types.js";
import type { ListenOptions } from "./generated/options.js";
import type { HandlerOptions } from "./option-types.js";
import type { HostHooks } from "./hook-types.js";
import type { HostProviders } from "./model-types.js";
import type { ImportedFolderSession, ImportFolderInput } from "./session-folder.js";
import type { HostTools } from "./tool-types.js";

/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object that JSON can represent. Members that are undefined count as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** The input of `location.trust`. */
export interface LocationTrustInput {
  /** The Location; absent means the host's default one. */
  readonly location?: { readonly directory?: string | undefined } | undefined;
  /** True if the host trusts the files of its project. */
  readonly trusted: boolean;
}

/**
 * A socket on which a host answers network clients.
 *
 * `password`, `headers` and `clientUrl` contain the password. They are not enumerable, so a printed or serialised
 * listener does not show them, and a copy with `{ ...listener }` does not have them.
 */
export interface Listener extends AsyncDisposable {
  /** The address for clients on this machine, such as `"http://127.0.0.1:4096"`. It contains no password. */
  readonly url: string;
  /**
   * The address with user and password, percent-encoded: `createClient({ baseUrl: listener.clientUrl })`. `fetch` and
   * browsers refuse such addresses. Use `url` and `headers` there. Equal to `url` if the password is off. It is a
   * secret.
   */
  readonly clientUrl: string;
  /** The user name that clients send with the password. Undefined if the password is off. */
  readonly username: string | undefined;
  /** The password that clients send. Undefined if it is off. It is a secret. */
  readonly password: string | undefined;
  /**
   * The headers that requests need: `{ authorization: "Basic ..." }`, or none if the password is off. They are a
   * secret.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Closes the socket. The listener accepts no further connections and requests, breaks the streams of events, and
   * waits at most ten seconds for other requests. The host stays open. A second call returns the same promise.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A registration with a host. It ends when it is disposed or the host closes. */
export interface Registration extends Disposable {
  /** Ends the registration. A second call has no effect. */
  dispose(): void;
  /** The same as `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** An answer to a permission request: the reply, or the reply with a message that tells the model the reason. */
export type PermissionAnswer =
  | PermissionReply
  | { readonly reply: PermissionReply; readonly message?: string | undefined };

/** Answers a permission request. `undefined` passes it to the next handler, then to other clients. */
export type PermissionHandler = (
  request: PermissionRequest,
  options: HandlerOptions,
) => PermissionAnswer | undefined | Promise<PermissionAnswer | undefined>;

/**
 * Answers to questions: a list of labels for each question, in the order of the questions. `"reject"` refuses to
 * answer and ends the activity that asked.
 */
export type QuestionAnswers = readonly (readonly string[])[] | "reject";

/** Answers questions. `undefined` passes them to the next handler, then to other clients. */
export type QuestionHandler = (
  request: QuestionRequest,
  options: HandlerOptions,
) => QuestionAnswers | undefined | Promise<QuestionAnswers | undefined>;

/** The terminal that the host creates next. */
export interface PtyEnvironmentContext {
  /** The absolute path of the Location of the terminal. */
  readonly directory: string;
  /** The absolute path of the directory in which its program starts. */
  readonly cwd: string;
}

/** Returns variables for a terminal: an object of strings, possibly empty. */
export type PtyEnvironmentHook = (
  context: PtyEnvironmentContext,
  options: HandlerOptions,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/**
 * A host: sessions that run inside this process. It has the methods of the client, which use the same routes as a
 * client over the network, and the members below.
 *
 * An open host does not keep the process alive. A pending call does. A running session and a listener do, too, unless
 * the option `keepAlive` is `false`.
 */
export interface OpenCodeHost extends OpenCodeClient, AsyncDisposable {
  readonly location: OpenCodeClient["location"] & {
    /**
     * Sets the trust in the files of the project of a Location. It takes precedence over the option `trust` and is
     * valid until the host closes. A running Provider Turn keeps the previous configuration. Only the host can do this,
     * not its network clients.
     *
     * Rejects with `InvalidRequestError` if the directory cannot be a Location. The decision is valid nevertheless.
     *
     * @example
     * ```ts
     * await opencode.location.trust({ location: { directory: "/projects/mine" }, trusted: true })
     * ```
     */
    trust(input: LocationTrustInput): Promise<void>;
  };
  readonly sessions: OpenCodeClient["sessions"] & {
    /**
     * Imports the sessions that versions of OpenCode before the event log stored as files, one by one. Reads files of
     * this machine, so network clients do not have it. A session that cannot be imported is a result with an `error`.
     *
     * Throws `InvalidRequestError` if the folder has no sessions.
     *
     * @example
     * ```ts
     * for await (const { path, imported, error } of opencode.sessions.importFolder({ directory: "/data/storage" })) {
     *   console.log(path, error?.message ?? imported?.omitted.length)
     * }
     * ```
     */
    importFolder(input: ImportFolderInput): AsyncGenerator<ImportedFolderSession, void, undefined>;
  };
  readonly permissions: OpenCodeClient["permissions"] & {
    /**
     * Registers a function that answers the permission requests of all sessions, including those of tasks. It receives
     * the requests that already wait, then each new one. The host calls the function that was registered last first. A
     * result of `undefined` passes the request to the function before. Other clients see each request at the same time
     * and can answer it first.
     *
     * If a function throws, rejects or returns an invalid answer, the request waits for other clients. The host calls no
     * further function for it and emits a process warning (`OpenCodeWarning`). Functions do not keep the process alive.
     *
     * The signal of the second argument aborts when the request ends otherwise, or when the registration is disposed.
     * Pass it to a prompt in a terminal, so that a late "y" has no effect.
     *
     * @example
     * ```ts
     * using reading = opencode.permissions.handle(({ action }) => (action === "read" ? "once" : undefined))
     * ```
     */
    handle(handler: PermissionHandler): Registration;
  };
  readonly questions: OpenCodeClient["questions"] & {
    /**
     * Registers a function that answers questions, in the way of `permissions.handle`.
     *
     * @example
     * ```ts
     * opencode.questions.handle(({ questions }) => questions.map(({ options }) => [options[0].label]))
     * ```
     */
    handle(handler: QuestionHandler): Registration;
  };
  readonly ptys: OpenCodeClient["ptys"] & {
    /**
     * Registers a function that returns variables for each new terminal, also for terminals of network clients. They
     * take precedence over the variables of the host (`env`) and of the caller, but not over `TERM` and
     * `OPENCODE_TERMINAL`, which a terminal sets itself. The host calls all functions at the same time. If two return
     * the same variable, the function that was registered last takes precedence.
     *
     * If a function throws, rejects, returns anything but an object of strings, or takes more than ten seconds, the
     * terminal is not created: `ptys.create` rejects with `ServiceUnavailableError`, whose `service` is
     * `"pty.environment"` and whose message has the reason. The same applies to more than 1,000 variables, a variable of
     * more than 128 KiB, more than 1 MiB in total, a name that is empty or contains `=`, and any NUL. Functions do not
     * keep the process alive.
     *
     * @throws {TypeError} If the argument is not a function.
     * @example
     * ```ts
     * using registration = opencode.ptys.environment(async ({ cwd }) => ({ API_TOKEN: await tokenFor(cwd) }))
     * ```
     */
    environment(hook: PtyEnvironmentHook): Registration;
  };
  /** The providers of models: those of the configuration, and those of the program. docs/models.md describes them. */
  readonly providers: OpenCodeClient["providers"] & HostProviders;
  /** The tools of the program. Models of all sessions can call them. docs/tools.md describes them. */
  readonly tools: HostTools;
  /** The Context Sources of the program. docs/context-sources.md describes them. */
  readonly contextSources: HostContextSources;
  /** Functions of the program that change prompts, requests, summaries and tool calls. docs/hooks.md describes them. */
  readonly hooks: HostHooks;
  /**
   * A `fetch` that this host answers. The origin of the URL has no meaning. Bodies are streams. An abort rejects with
   * the reason of the signal. Without an answer, for example after `close()`, it rejects with
   * `ClientError("Transport")`.
   *
   * @example
   * ```ts
   * const response = await opencode.fetch("http://opencode.local/api/health")
   * ```
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Opens a socket for network clients: `createClient({ baseUrl: listener.clientUrl })` in any process, and any other
   * client of OpenCode. Clients need a password, by default a random one. A host can have several listeners. A listener
   * keeps the process alive until it or the host is closed, unless the option `keepAlive` is `false`.
   *
   * Rejects with `InvalidOptionError`, or with `AddressUnavailableError` if the address is in use or does not belong
   * to this machine.
   *
   * @example
   * ```ts
   * const listener = await opencode.listen()
   * const client = createClient({ baseUrl: listener.clientUrl })
   * ```
   */
  listen(options?: ListenOptions): Promise<Listener>;
  /**
   * Replaces the budget of all sessions together (the option `budgets.host`). The work since the opening of the host
   * still counts. `{}` removes the limits. A paused session continues when the program calls `sessions.resume`. Only the
   * host can do this, not its network clients.
   *
   * Throws `InvalidOptionError` for an invalid limit.
   *
   * @example
   * ```ts
   * opencode.setBudget({ cost: 20 })
   * ```
   */
  setBudget(budget: SessionBudget): void;
  /**
   * Closes the host: ends its listeners, interrupts running sessions, ends all streams and closes the file. Resolves
   * when this is done, after at most ten seconds, or twelve with a listener. Work that has not settled by then has the
   * state that a crash would leave. A second call returns the same promise. Every later call of another method rejects
   * with `ClientError("Transport")`.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The result of a plugin, with which the host ends it: a function, a Registration or a Disposable. */
export type PluginDisposal = (() => unknown) | Registration | Disposable | AsyncDisposable;

/**
 * A plugin: a function that bundles registrations for one host. The host disposes of its result when it closes.
 *
 * @example
 * ```ts
 * const clock: Plugin = (host) =>
 *   host.tools.register({
 *     name: "clock",
 *     description: "Returns the current time.",
 *     input: { type: "object" },
 *     execute: () => new Date().toISOString(),
 *   })
 * ```
 */
export type Plugin = (host: OpenCodeHost) => PluginDisposal | void | Promise<PluginDisposal | void>;
