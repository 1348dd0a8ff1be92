/// <reference lib="esnext.disposable" />

// The facade: the client of `opencode-embedded/client`, and the host that answers the same methods in memory.

import type { OpenCodeClient, PermissionReply, PermissionRequest, QuestionRequest } from "./client/index.js";
import type { OpenCodeConfig } from "./embedded/config.js";

export * from "./client/index.js";
export type * from "./embedded/config.js";

/** A value that JSON can represent. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object that JSON can represent. Members that are undefined count as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** The failures that a committed event survives. */
export type Durability = "normal" | "full";

/** The action at opening on sessions whose last activity was cut off by the end of a process. */
export type Recovery = "manual" | "resume";

/** Limits of a host. Whole numbers from 1 on. */
export interface Limits {
  /**
   * Prompts of one session that may wait, admitted and not yet promoted. Beyond it `sessions.prompt` rejects
   * with `SessionBacklogError` and stores nothing. Default: 10000.
   */
  readonly inbox?: number | undefined;
  /** Steering prompts that are promoted together between two turns of the model. Default: `inbox`. */
  readonly steerBatch?: number | undefined;
  /** Levels of child sessions that tasks make below a session that no task made. Default: 3. */
  readonly subagentDepth?: number | undefined;
  /** Tasks of one session that may run at the same time. Default: 8. */
  readonly subagents?: number | undefined;
}

/**
 * When a turn sends a request again that the provider refused for now (rate limit, overload, an internal failure)
 * before it gave any output. Each wait is recorded as `session.next.retried`. Whole numbers from 1 on.
 */
export interface RetryPolicy {
  /**
   * Milliseconds from the first request of a turn to its last one. A provider that names a later time fails the turn
   * at once. Default: 300000.
   */
  readonly maxElapsedMs?: number | undefined;
  /** Requests of one turn, the first one included. Default: as many as the time allows. */
  readonly maxAttempts?: number | undefined;
  /** The longest wait in milliseconds where the provider names no time. Waits double from 500 on. Default: 30000. */
  readonly maxDelayMs?: number | undefined;
}

/** Time limits for a provider, in milliseconds: whole numbers from 1 on, `false` for no limit. */
export interface Deadlines {
  /** Until a connection is there. Default: 10000. */
  readonly connectMs?: number | false | undefined;
  /** From the request to the headers of the answer. Default: no limit. */
  readonly firstByteMs?: number | false | undefined;
  /** Between two pieces of the answer. Default: no limit. */
  readonly idleMs?: number | false | undefined;
  /** From one request to the end of its answer. Default: no limit. */
  readonly requestMs?: number | false | undefined;
}

/**
 * The treatment of permissions and questions without an answer. `"wait"`: they wait. `"deny"`: the host refuses them
 * at once. `denyAfterMs`: the host refuses them after this number of milliseconds, a whole number from 1 on. A refusal
 * has the effect of a rule that denies: the call fails, and the model continues.
 *
 * `"deny"` leaves no time for handlers either. `denyAfterMs` limits the time of handlers and of all clients.
 */
export type Unanswered = "wait" | "deny" | { readonly denyAfterMs: number };

/**
 * Permission rules, in either form that configuration takes: a list, or effects by action. The last rule that matches
 * decides.
 *
 * @example { "*": "ask", read: "allow", bash: { "*": "ask", "rm *": "deny" } }
 */
export type PermissionRules =
  | readonly { readonly action: string; readonly resource: string; readonly effect: "allow" | "ask" | "deny" }[]
  | Readonly<Record<string, "allow" | "ask" | "deny" | Readonly<Record<string, "allow" | "ask" | "deny">>>>
  | "allow"
  | "ask"
  | "deny";

/** The second argument of a function that answers requests of the host. */
export interface HandlerOptions {
  /**
   * Aborts when the request ends otherwise: another function or client answered it, the session was interrupted, its
   * time ran out, the caller gave up, or the host closes. An answer that comes later has no effect, and a function that
   * rejects after the abort causes no warning. After the function's own answer the signal stays quiet.
   */
  readonly signal: AbortSignal;
}

/**
 * Decides whether the host trusts the project of a Location.
 *
 * @param directory The directory of the Location, absolute and in normal form.
 * @param options The signal that aborts when the host needs the decision no more.
 */
export type TrustFunction = (directory: string, options: HandlerOptions) => boolean | Promise<boolean>;

/** The input of `location.trust`. */
export interface LocationTrustInput {
  /** The Location; absent means the host's default one. */
  readonly location?: { readonly directory?: string | undefined } | undefined;
  /** True if the host trusts the files of its project. */
  readonly trusted: boolean;
}

/** Permissions where the program, and not a file, decides. */
export interface PermissionOptions {
  /** The treatment of permissions and questions without an answer, also in child sessions. Default: `"wait"`. */
  readonly unanswered?: Unanswered | undefined;
  /**
   * Rules that nothing loosens: no file, agent, session, subagent or saved approval. A `deny` is final. For an `ask` the
   * host asks each time, also after an answer of `always`. An `allow` leaves the decision to the other rules.
   * Default: none.
   */
  readonly ceiling?: PermissionRules | undefined;
}

/**
 * Settings of a host, all of them optional. They are checked before anything is opened: an option that does
 * not exist or has another type rejects with `InvalidOptionError`, which names it.
 *
 * Relative paths are resolved against the working directory when the host is created.
 */
export interface OpenCodeOptions {
  /** The folder sessions work in unless they are created for another one. Default: the working directory. */
  readonly directory?: string | undefined;
  /**
   * The SQLite file that holds the sessions, or `":memory:"` for one that lives as long as the host. The file is
   * given by its path or by an absolute `file:` URL; any other scheme is refused. Only one host may have a file
   * open. Default: `embedded/opencode.db` in `dataDirectory`.
   */
  readonly database?: string | undefined;
  /**
   * The home directory: what `~` stands for, and where the defaults of the next three lie.
   * Default: `HOME` of `env`, else the home directory of the user.
   */
  readonly home?: string | undefined;
  /**
   * Where data is kept. Default: `opencode` in `XDG_DATA_HOME`, else `.local/share/opencode` in `home`.
   * The `XDG_` variables of this process do not count when `home` is given; those of a given `env` do.
   */
  readonly dataDirectory?: string | undefined;
  /**
   * Where the user's configuration is read from. Default: `opencode` in `XDG_CONFIG_HOME`, else
   * `.config/opencode` in `home`.
   */
  readonly configDirectory?: string | undefined;
  /** Directory of files that may be deleted at any time. Default: `opencode` in `XDG_CACHE_HOME`, else `.cache/opencode` in `home`. */
  readonly cacheDirectory?: string | undefined;
  /**
   * The model of sessions that choose none, as `"provider/model"` or `"provider/model#variant"`. No configuration
   * need describe it: it is taken to call tools, `openai` and `anthropic` are known, and any other provider with a
   * `baseURL` speaks OpenAI Chat Completions. Default: `model` of the configuration, else the newest model that can
   * be used.
   *
   * @example "openai/gpt-4.1-mini"
   */
  readonly model?: string | undefined;
  /**
   * The key of the provider of `model`, which must be given too. It is sent only to an address that `baseURL`,
   * `config` or a variable of `env` gives, or to the provider's own. Default: `apiKey` of the configuration,
   * else the variable `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `<PROVIDER>_API_KEY`.
   */
  readonly apiKey?: string | undefined;
  /**
   * The address of the provider of `model`, which must be given too: an absolute http or https URL, such as
   * `"http://127.0.0.1:8080/v1"`. Default: `baseURL` of the configuration, else the variable `OPENAI_BASE_URL` or
   * `ANTHROPIC_BASE_URL`, else the provider's own.
   */
  readonly baseURL?: string | undefined;
  /**
   * Configuration with the keys of `opencode.json`, merged over what the configuration files say. A wrong value or an
   * unknown key is an `InvalidOptionError` whose `option` is its path, such as `"config.permission.bash"`.
   * Default: none.
   */
  readonly config?: OpenCodeConfig | undefined;
  /**
   * The environment, instead of the one of this process. It is copied when the host is created, so later
   * changes are not seen. Default: a copy of `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Which variables of `env` commands and terminals get. By default they get all but those that hold credentials of
   * model providers or of search services, those whose value holds a configured key or header, and those that are
   * named like secrets, such as `*_API_KEY`, `*_TOKEN` and `*PASSWORD*`: docs/secrets.md has the list.
   */
  readonly commandEnvironment?: CommandEnvironment | undefined;
  /**
   * With `"normal"` nothing acknowledged is lost when the process dies; with `"full"` nor when the machine
   * loses power, at the price of waiting for the disk with every commit. Default: `"normal"`.
   */
  readonly durability?: Durability | undefined;
  /**
   * With `"manual"` a session that was cut in the middle of its work waits: for the next prompt, or for
   * `sessions.resume`. With `"resume"` opening takes up the work of every such session, which asks the model
   * again although it may have answered before; a session whose last three attempts brought no finished step is
   * left alone. Prompts that wait in such a session are answered with it, in any other they go on waiting.
   * Default: `"manual"`.
   */
  readonly recovery?: Recovery | undefined;
  /**
   * True: a running session keeps the process alive until it is idle, and a listener until it is closed. An open host
   * alone never keeps the process alive; a pending call always does. False: the process may end in the middle of a
   * turn, with the effect of a crash. Default: `true`.
   */
  readonly keepAlive?: boolean | undefined;
  /**
   * Trust in the files of projects (`opencode.json`, `.opencode`, `AGENTS.md`): `true` for all projects, or a function
   * that decides about each Location when it is opened. Files of an untrusted project only add text and restrictions:
   * instructions, prompts of agents, commands, skills, and stricter permissions. A setting that would send data
   * elsewhere, start a program, read a secret or loosen a permission has no effect, and `location.diagnostics` lists it.
   *
   * The host keeps the function's answer until `location.trust` changes it. If the function throws, returns anything
   * else, or takes more than 60 seconds, the host does not trust the project and asks again when it opens the Location
   * the next time. The function does not keep the process alive. Default: `false`.
   */
  readonly trust?: boolean | TrustFunction | undefined;
  /** Rules that no file loosens, and the treatment of requests without an answer. Omitted members have their default. */
  readonly permissions?: PermissionOptions | undefined;
  /** Bounds. A member that is left out has its default. */
  readonly limits?: Limits | undefined;
  /**
   * The log: a function that gets entries from the level `"warn"` on, a level for process warnings, or `LogOptions`.
   * The host never writes to standard output. Default: process warnings from the level `"warn"` on.
   */
  readonly log?: LogOptions["sink"] | LogOptions["level"] | LogOptions;
  /**
   * Time that a turn waits for a provider that temporarily refuses its request. `false` sends every request once.
   * Default: five minutes in total.
   */
  readonly retry?: false | RetryPolicy | undefined;
  /**
   * Time limits for providers. `"interactive"` is `{ firstByteMs: 120000, idleMs: 60000 }`. The options
   * `headerTimeout`, `chunkTimeout` and `timeout` of a provider override them. Default: ten
   * seconds for the connection, and no other limit.
   */
  readonly deadlines?: "interactive" | Deadlines | undefined;
  /**
   * Gives variables to the terminals of this host, from the first one on: as `ptys.environment` does, and under those
   * of functions that are registered there. Default: none.
   */
  readonly ptyEnvironment?: PtyEnvironmentHook | undefined;
}

/** The severity of an entry of the log. */
export type LogLevel = "error" | "warn" | "info" | "debug" | "trace";

/** One entry of the log of a host. It holds no known secret. */
export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  /** The part of the host, such as `"opencode::store"`: docs/log.md has the list. */
  readonly target: string;
  readonly message: string;
  /** Values that belong to the message. Texts of more than 8 KiB are cut. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** The session that the entry is about. */
  readonly sessionID?: string;
  /** The Location that the entry is about. */
  readonly location?: { readonly directory: string };
}

/** Which entries of the log the program gets, and where. A member that is left out has its default. */
export interface LogOptions {
  /** The least grave level. Default: `"warn"`. */
  readonly level?: LogLevel | "off" | undefined;
  /** Other levels for some targets, such as `{ "opencode::llm": "debug" }`. Default: none. */
  readonly targets?: Readonly<Record<string, LogLevel | "off" | undefined>> | undefined;
  /**
   * Gets each entry, in order, soon after the host logs it. `close` of the host waits up to 5 seconds until the function
   * has had the last one. It does not keep the process alive. If it throws, the entry is lost; the process emits one
   * warning with the code `OPENCODE_LOG_SINK`. If it is too slow, the host drops entries and says how many in an entry.
   * Default: the host emits process warnings with the code `OPENCODE_LOG`, the same one once a minute and at most 30.
   */
  readonly sink?: ((entry: LogEntry) => void) | undefined;
}

/** Names of variables, in any case. `*` stands for any text. */
export interface CommandEnvironment {
  /** Variables that commands and terminals do not get either. Default: none. */
  readonly omit?: readonly string[] | undefined;
  /** Variables that they get whatever else is said about them; `["*"]` gives them all. Default: none. */
  readonly keep?: readonly string[] | undefined;
}

/**
 * Where a host listens, and who may ask it. Checked like the options of a host: one that does not exist or has
 * another type rejects with `InvalidOptionError`, which names it.
 */
export interface ListenOptions {
  /** The port; 0 is any that is free, and `url` says which. Default: 0. */
  readonly port?: number | undefined;
  /**
   * A name or an address of this machine. One that other machines reach needs a password: `password: false` is refused
   * there. Default: `"127.0.0.1"`.
   */
  readonly hostname?: string | undefined;
  /**
   * The password that every request must carry: as HTTP Basic, or in the query `auth_token` with the same text.
   * Default: `OPENCODE_SERVER_PASSWORD` of the host's `env`, else a random one, which `listener.password`,
   * `listener.headers` and `listener.clientUrl` give.
   *
   * `false` turns it off, whatever the environment says: then every program of this machine may ask, under the names
   * of this machine and `hostname`, and web pages of other origins than those of `cors` change nothing.
   */
  readonly password?: string | false | undefined;
  /**
   * The name that belongs to the password. Refused beside `password: false`. Default: `OPENCODE_SERVER_USERNAME` of
   * the host's `env`, else `"opencode"`.
   */
  readonly username?: string | undefined;
  /**
   * Origins, such as `"https://app.example"`, whose web pages may read the answers, and change something without a
   * password. Those of `http://localhost` and `http://127.0.0.1` with any port, and of Tauri programs, always may.
   * Default: none.
   */
  readonly cors?: readonly string[] | undefined;
  /**
   * Bytes of a request's body. A larger one is an `InvalidRequestError` with status 413. Default: 67108864, which is
   * 64 MiB.
   */
  readonly maxBodyBytes?: number | undefined;
}

/**
 * A socket on which a host answers.
 *
 * `password`, `headers` and `clientUrl` hold the password. They are not enumerable: a listener that is printed or
 * serialised does not show them, and a copy made with `{ ...listener }` does not have them.
 */
export interface Listener extends AsyncDisposable {
  /** Where clients on this machine find it, such as `"http://127.0.0.1:4096"`. It holds no password. */
  readonly url: string;
  /**
   * The address with user and password, percent-encoded: `createClient({ baseUrl: listener.clientUrl })`. `fetch` and
   * browsers refuse such addresses; use `url` and `headers` there. Equal to `url` when the password is off. It is a
   * secret.
   */
  readonly clientUrl: string;
  /** The name that clients give with the password; undefined when the password is off. */
  readonly username: string | undefined;
  /** The password that clients give; undefined when it is off. It is a secret. */
  readonly password: string | undefined;
  /**
   * The headers that requests need: `{ authorization: "Basic ..." }`, or none when the password is off. They are a
   * secret.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Takes no further connection or request, breaks the streams of events, waits for other requests that are under
   * way, ten seconds at most, and closes the socket. The host goes on. Calling it again gives the same promise.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Something that was registered with a host, until it is disposed of, or the host is closed. */
export interface Registration extends Disposable {
  /** Takes it back. Calling it again does nothing. */
  dispose(): void;
  /** The same as `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}

/** An answer to a permission request: the reply alone, or with words that tell the model why it was rejected. */
export type PermissionAnswer =
  | PermissionReply
  | { readonly reply: PermissionReply; readonly message?: string | undefined };

/** Answers a permission request. `undefined` leaves it to others. */
export type PermissionHandler = (
  request: PermissionRequest,
  options: HandlerOptions,
) => PermissionAnswer | undefined | Promise<PermissionAnswer | undefined>;

/**
 * Answers to questions, a list of labels for each question in its order; or the refusal to answer, which ends the
 * activity that asked.
 */
export type QuestionAnswers = readonly (readonly string[])[] | "reject";

/** Answers questions. `undefined` leaves them to others. */
export type QuestionHandler = (
  request: QuestionRequest,
  options: HandlerOptions,
) => QuestionAnswers | undefined | Promise<QuestionAnswers | undefined>;

/** The terminal that is about to begin. */
export interface PtyEnvironmentContext {
  /** The directory of the Location that the terminal belongs to, absolute. */
  readonly directory: string;
  /** The directory that its program begins in, absolute. */
  readonly cwd: string;
}

/** Gives variables to a terminal: an object of strings, empty where there are none. */
export type PtyEnvironmentHook = (
  context: PtyEnvironmentContext,
  options: HandlerOptions,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/**
 * A host: sessions that run inside this process. It is the client, every method of which passes the same
 * routes as over the network, and the members below.
 *
 * An open host does not keep the process alive. A call that has not been answered does, and so does a session
 * that works, or a listener, unless the option `keepAlive` says otherwise.
 */
export interface OpenCodeHost extends OpenCodeClient, AsyncDisposable {
  readonly location: OpenCodeClient["location"] & {
    /**
     * Trusts the files of the project of a Location from now on, or no longer, whatever the option `trust` says. It
     * holds until the host closes. A Provider Turn that is under way keeps the former configuration. Only the host can
     * do this, not its network clients.
     *
     * Rejects with `InvalidRequestError` if the directory cannot be a Location. The decision about it holds all the same.
     *
     * @example
     * ```ts
     * await opencode.location.trust({ location: { directory: "/projects/mine" }, trusted: true })
     * ```
     */
    trust(input: LocationTrustInput): Promise<void>;
  };
  readonly permissions: OpenCodeClient["permissions"] & {
    /**
     * Lets a function answer the permission requests of all sessions, those of tasks included: what waits when the
     * first one is registered, then what comes. The function that came last is asked first, and an answer of
     * `undefined` passes a request on to the one before. What none of them answers waits for other clients, who see it
     * meanwhile and may be quicker.
     *
     * A function that throws, rejects or answers what is no answer leaves the request waiting, without asking further
     * ones, and causes a warning of the process (`OpenCodeWarning`). Functions do not keep the process alive.
     *
     * The signal of the second argument aborts when the request ends otherwise, or when the function is taken back.
     * Pass it to a prompt of a terminal, so that a late "y" answers nothing.
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
     * Lets a function answer questions, as `permissions.handle` does.
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
     * Lets a function give variables to every terminal that is created from now on, here or by a client over the
     * network. They lie over those of the host (`env`) and of the caller, and under `TERM` and `OPENCODE_TERMINAL`,
     * which a terminal sets itself. Of several functions all are asked, at the same time; where two give the same
     * variable, the one that was registered last wins.
     *
     * A terminal whose function throws, rejects, gives anything else than an object of strings, or takes more than ten
     * seconds, does not begin: `ptys.create` rejects with `ServiceUnavailableError`, whose `service` is
     * `"pty.environment"` and whose message has the reason. So it does with more than 1,000 variables, one of more than
     * 128 KiB, or more than 1 MiB of them, with a name that is empty or has a `=`, and with a NUL anywhere. Functions
     * do not keep the process alive.
     *
     * @throws {TypeError} When it is no function.
     * @example
     * ```ts
     * using registration = opencode.ptys.environment(async ({ cwd }) => ({ API_TOKEN: await tokenFor(cwd) }))
     * ```
     */
    environment(hook: PtyEnvironmentHook): Registration;
  };
  /**
   * `fetch`, answered by this host. The origin of the URL means nothing. Bodies stream; an abort rejects with
   * the reason of the signal. Without an answer, as after `close()`, it rejects with `ClientError("Transport")`.
   *
   * @example
   * ```ts
   * const response = await opencode.fetch("http://opencode.local/api/health")
   * ```
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Answers network clients, too: the same sessions, for `createClient({ baseUrl: listener.clientUrl })` here or
   * elsewhere, and for any other client of OpenCode. Clients need a password, a random one unless the options say
   * otherwise. A host may listen on several addresses. The listener keeps the process alive until it, or the host, is
   * closed, unless the option `keepAlive` is `false`.
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
   * Stops listening, interrupts what is running, ends every stream, closes the file and resolves when all of it is
   * done, after ten seconds at the latest, and two more when it listened. What has not settled by then is left as a
   * crash would leave it.
   * Calling it again gives the same promise. Every later call rejects with `ClientError("Transport")`.
   */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The way to a host. */
export declare const OpenCode: {
  /**
   * Opens a host on one SQLite file, which is created when it does not exist.
   *
   * Rejects with `InvalidOptionError`, `AddonUnavailableError`, `DatabaseUnavailableError`, `DatabaseVersionError` or
   * `DatabaseInUseError`; where it meets a bug of this package, with `UnknownError`.
   *
   * @example
   * ```ts
   * await using opencode = await OpenCode.create({ model: "openai/gpt-4.1-mini" })
   * const session = await opencode.sessions.create()
   * ```
   */
  create(options?: OpenCodeOptions): Promise<OpenCodeHost>;
};
