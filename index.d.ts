/// <reference lib="esnext.disposable" />

// The facade: the client of `opencode-embedded/client`, and the host that answers the same methods in memory.

import type {
  OpenCodeClient,
  PermissionReply,
  PermissionRequest,
  QuestionRequest,
  SessionBudget,
  SessionInfo,
} from "./client/index.js";
import type { McpConfig, OpenCodeConfig } from "./embedded/config.js";
import type { HostContextSources, Unavailable } from "./embedded/context-source.js";
import type { HostHooks } from "./embedded/hook.js";
import type { HostProviders } from "./embedded/model.js";
import type { ImportedFolderSession, ImportFolderInput } from "./embedded/session-folder.js";
import type { HostTools } from "./embedded/tool.js";

export * from "./client/index.js";
export type * from "./embedded/config.js";
export type * from "./embedded/hook.js";
export type * from "./embedded/model.js";
export type { ImportedFolderSession, ImportFolderInput } from "./embedded/session-folder.js";
export type * from "./embedded/tool.js";
export type * from "./embedded/context-source.js";

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
   * Maximum number of prompts of one session that are admitted and not yet promoted. With more, `sessions.prompt`
   * rejects with `SessionBacklogError` and stores nothing. Default: 10000.
   */
  readonly inbox?: number | undefined;
  /** Maximum number of steering prompts that are promoted together between two Provider Turns. Default: `inbox`. */
  readonly steerBatch?: number | undefined;
  /** Maximum number of levels of child sessions below a session that no task created. Default: 3. */
  readonly subagentDepth?: number | undefined;
  /** Maximum number of tasks of one session that run at the same time. Default: 8. */
  readonly subagents?: number | undefined;
}

/**
 * The policy for requests that a provider temporarily refuses (rate limit, overload, internal failure) before any
 * output. A Provider Turn sends them again and records each wait as `session.next.retried`. Whole numbers from 1 on.
 */
export interface RetryPolicy {
  /**
   * Maximum time in milliseconds from the first request of a turn to its last one. If the provider asks for a longer
   * wait, the turn fails at once. Default: 300000.
   */
  readonly maxElapsedMs?: number | undefined;
  /** Maximum number of requests of one turn, the first one included. Default: no limit except the time. */
  readonly maxAttempts?: number | undefined;
  /**
   * The longest wait in milliseconds if the provider states no time. Waits begin with 500 ms and double.
   * Default: 30000.
   */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Limits on the work of sessions. A session that has used up a budget pauses before its next Provider Turn, so the work
 * can exceed a limit by one turn. The pause is durable (`session.next.paused`), and prompts stay pending. To continue,
 * set a larger budget and call `sessions.resume`.
 */
export interface Budgets {
  /**
   * The budget of each session together with its child sessions. A session with a budget of its own
   * (`sessions.create({ budget })`, `sessions.update`) uses that one. Default: no limit.
   */
  readonly session?: SessionBudget | undefined;
  /**
   * The budget of all sessions together. It counts the work from the opening of the host on. `setBudget` replaces it.
   * Default: no limit.
   */
  readonly host?: SessionBudget | undefined;
}

/** A server of an organisation. */
export interface RemoteConfigServer {
  /** The address before `/.well-known/opencode`. */
  readonly url: string;
  /** Headers of the requests to it, for example `authorization`. The host treats their values as secrets. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Time limits for a provider, in milliseconds: whole numbers from 1 on, `false` for no limit. */
export interface Deadlines {
  /** Until the connection is established. Default: 10000. */
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
 * Permission rules in one of the forms of the configuration: a list, or effects by action. The last rule that matches
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

/** The session that a function of `ShareOptions` gets. */
export interface SharedSession {
  /** The session. `session.share.url` is the address of its copy, if there is one. */
  readonly session: SessionInfo;
  /** Aborts when the host needs the result no more: after 60 seconds, or when it closes. */
  readonly signal: AbortSignal;
}

/** A session that is published. */
export interface PublishedSession extends SharedSession {
  /** The session as lines, as `sessions.export` gives them. Nothing is read before the first line is taken. */
  readonly lines: AsyncIterable<string>;
}

/** A service that keeps shared copies of sessions. */
export interface ShareOptions {
  /**
   * Publishes a copy of a session, or replaces the copy at `session.share.url`, and returns its address. The host calls
   * it when a session is shared, and again after each activity of a shared session.
   *
   * @returns An address that begins with `https://` or `http://`, of at most 2048 bytes.
   */
  publish(shared: PublishedSession): { readonly url: string } | Promise<{ readonly url: string }>;
  /** Removes the copy at `session.share.url`. If it throws, the session stays shared. */
  remove(shared: SharedSession): unknown;
  /**
   * `"manual"`: clients share sessions. `"auto"`: the host also shares each new session that no other session creates.
   * The key `share` of the configuration can be `"auto"`, too, and `"disabled"` there is stronger. Default: `"manual"`.
   */
  readonly mode?: "manual" | "auto" | undefined;
}

/**
 * Keeps the values of credentials, for example in the secret storage of an editor. A value is a secret text without a
 * documented format. Each function has ten seconds. If one throws or rejects, the operation fails with
 * `ServiceUnavailableError`, and nothing is stored elsewhere.
 */
export interface CredentialStore {
  /** Returns the value with this key, or `undefined` if there is none. */
  get(key: string): string | undefined | Promise<string | undefined>;
  /** Stores a value, or replaces it. */
  set(key: string, value: string): unknown;
  /** Removes a value. Ignores an unknown key. */
  remove(key: string): unknown;
}

/** The input of `location.trust`. */
export interface LocationTrustInput {
  /** The Location; absent means the host's default one. */
  readonly location?: { readonly directory?: string | undefined } | undefined;
  /** True if the host trusts the files of its project. */
  readonly trusted: boolean;
}

/** The decisions of the program about permissions. No file can change them. */
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
 * Options of a host. All are optional. The host checks them before it opens anything: an unknown option or a wrong
 * value rejects with `InvalidOptionError`, which names the option.
 *
 * Relative paths are resolved against the working directory when the host is created.
 */
export interface OpenCodeOptions {
  /** The directory of sessions that are created without a Location. Default: the working directory of the process. */
  readonly directory?: string | undefined;
  /**
   * The SQLite file of the sessions: a path, or an absolute `file:` URL. `":memory:"` keeps them in memory until the
   * host closes. Any other scheme is refused. Only one host can have a file open.
   * Default: `embedded/opencode.db` in `dataDirectory`.
   */
  readonly database?: string | undefined;
  /**
   * The home directory. It replaces `~` in paths, and contains the default directories of the next three options.
   * Default: `HOME` of `env`, else the home directory of the user.
   */
  readonly home?: string | undefined;
  /**
   * The directory of durable data. Default: `opencode` in `XDG_DATA_HOME`, else `.local/share/opencode` in `home`.
   * With the option `home`, the host ignores the `XDG_` variables of this process, but not those of the option `env`.
   */
  readonly dataDirectory?: string | undefined;
  /**
   * The directory of the configuration of the user. Default: `opencode` in `XDG_CONFIG_HOME`, else
   * `.config/opencode` in `home`.
   */
  readonly configDirectory?: string | undefined;
  /** Directory of files that may be deleted at any time. Default: `opencode` in `XDG_CACHE_HOME`, else `.cache/opencode` in `home`. */
  readonly cacheDirectory?: string | undefined;
  /**
   * The model of sessions without one, as `"provider/model"` or `"provider/model#variant"`. It needs no configuration:
   * the host assumes that it calls tools, knows `openai` and `anthropic`, and uses OpenAI Chat Completions for any other
   * provider with a `baseURL`. Default: `model` of the configuration, else the newest usable model.
   *
   * @example "openai/gpt-4.1-mini"
   */
  readonly model?: string | undefined;
  /**
   * The API key of the provider of `model`. It needs the option `model`. The host sends it only to an address from
   * `baseURL`, `config` or a variable of `env`, or to the provider's own address. Default: `apiKey` of the
   * configuration, else the variable `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `<PROVIDER>_API_KEY`.
   */
  readonly apiKey?: string | undefined;
  /**
   * The address of the provider of `model`: an absolute http or https URL, such as `"http://127.0.0.1:8080/v1"`. It
   * needs the option `model`. Default: `baseURL` of the configuration, else the variable `OPENAI_BASE_URL` or
   * `ANTHROPIC_BASE_URL`, else the provider's own address.
   */
  readonly baseURL?: string | undefined;
  /**
   * Configuration with the keys of `opencode.json`. It takes precedence over the configuration files. A wrong value or
   * an unknown key rejects with `InvalidOptionError`, whose `option` is its path, such as `"config.permission.bash"`.
   * Default: none.
   */
  readonly config?: OpenCodeConfig | undefined;
  /**
   * Servers of the Model Context Protocol, in the form of the configuration key `mcp`: an object of servers by name, or
   * `{ timeout, servers }`. They take precedence over servers of the configuration. The host starts them at their
   * first use. A wrong value rejects with `InvalidOptionError`, whose `option` is its path, such as
   * `"mcp.files.command"`. Default: none.
   *
   * @example
   * await OpenCode.create({ mcp: { files: { type: "local", command: ["mcp-server-filesystem", "."] } } });
   */
  readonly mcp?: McpConfig | undefined;
  /**
   * The environment variables of the host. The host copies them when it is created, so later changes have no effect.
   * Default: `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The variables of `env` that commands and terminals get. By default the host omits credentials of model providers
   * and search services, variables whose value contains a configured key or header, and variables with the name of a
   * secret, such as `*_API_KEY`, `*_TOKEN` and `*PASSWORD*`. docs/secrets.md has the list.
   */
  readonly commandEnvironment?: CommandEnvironment | undefined;
  /**
   * The failures that acknowledged data survives. `"normal"`: the death of the process. `"full"`: also a loss of power,
   * at the cost of a disk flush with every commit. Default: `"normal"`.
   */
  readonly durability?: Durability | undefined;
  /**
   * The action at opening on sessions that a crash interrupted. `"manual"`: they wait for the next prompt or for
   * `sessions.resume`. `"resume"`: the host continues each of them with a new request to the model, which may have
   * answered before the crash. It skips a session whose last three attempts finished no step. Pending prompts of a
   * continued session are answered with it. Pending prompts of other sessions continue to wait. It begins after the
   * plugins have started and the program had the rest of one turn of the event loop to register its tools. Default:
   * `"manual"`.
   */
  readonly recovery?: Recovery | undefined;
  /**
   * If true, the agent `title` names each session after its first answer, with one further request to a model in the
   * background. If false, sessions keep their default titles. Default: true if the configuration names a model for
   * titles (`small_model`, or `model` of the agent `title`), else false, because each title costs a request.
   */
  readonly titles?: boolean | undefined;
  /**
   * Servers of organisations that publish configuration at `/.well-known/opencode`, as OpenCode reads it: an address, or
   * an address with headers for its requests. The addresses begin with `https://`, or with `http://` for this machine.
   * Their configuration is weaker than all other configuration, and it can start programs: name only servers that you
   * trust like your own program. The first use of a directory waits up to five seconds for it. If a server does not
   * answer, its last copy in the cache directory is used. Default: none.
   */
  readonly remoteConfig?: readonly (string | RemoteConfigServer)[] | undefined;
  /**
   * The absolute path of a directory of an administrator, for example `/etc/opencode`. Its files are those of a
   * configuration directory. They are stronger than all other configuration, and no rule loosens theirs. Default: none.
   */
  readonly managedConfigDirectory?: string | undefined;
  /**
   * If true, the host keeps the list of models current: it downloads `https://models.opencode.ai/api.json` once an hour to
   * `models.json` in the cache directory, first when it opens, unless the file is younger than five minutes. A failure
   * keeps the list. `OPENCODE_MODELS_URL` sets another address, and `OPENCODE_DISABLE_MODELS_FETCH` turns it off. Default:
   * false, because a library opens no connections by itself.
   */
  readonly refreshModels?: boolean | undefined;
  /**
   * If true, the model gets reminders as Mid-Conversation System Messages: that it plans and changes nothing, while the
   * agent `plan` answers, and that it does not plan any more after this agent; and that prompts arrived during its work.
   * Default: false, because OpenCode sends none.
   */
  readonly reminders?: boolean | undefined;
  /**
   * The service that keeps shared copies of sessions: `sessions.share` and `sessions.unshare` call its functions. Without
   * it no session is shared, and nothing of a session leaves the machine. Default: none.
   */
  readonly share?: ShareOptions | undefined;
  /**
   * Keeps the values of credentials: keys of providers (`integrations.connectKey`) and tokens of OAuth. Then the database
   * has only their ids and labels. Default: the database, whose file only the user of the process can read.
   */
  readonly credentials?: CredentialStore | undefined;
  /**
   * If true, a running session keeps the process alive until it is idle, and a listener until it is closed. An open
   * host alone never keeps the process alive. A pending call always does. If false, the process can end in the middle
   * of a turn, with the effect of a crash. Default: `true`.
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
  /** Limits of the host. Omitted members have their default. */
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
  /** Limits on the work of sessions: tokens, cost, Provider Turns and time. Default: no limits. */
  readonly budgets?: Budgets | undefined;
  /**
   * Models that take over if the provider of a turn has no capacity or cannot be reached (rate limit, quota, overload,
   * transport, timeout), as `provider/model`, best first, at most 16. A model takes over after the retries of the one
   * before, only before any output, and for the rest of the activity. The log records it as
   * `session.next.model.fallback`. Default: none.
   */
  readonly fallback?: readonly string[] | undefined;
  /**
   * Functions that register tools, Context Sources, hooks and handlers. The host calls them one after the other before
   * `create` resolves. If one fails, `create` rejects with its error and opens no host. `close()` first disposes of their
   * results, the last one first, and waits at most five seconds for it. Default: none.
   */
  readonly plugins?: readonly Plugin[] | undefined;
  /**
   * A function that returns variables for each terminal of this host, as a function of `ptys.environment` does.
   * Variables of functions that are registered there take precedence. Default: none.
   */
  readonly ptyEnvironment?: PtyEnvironmentHook | undefined;
}

/** The severity of an entry of the log. */
export type LogLevel = "error" | "warn" | "info" | "debug" | "trace";

/** One entry of the log of a host. It contains no known secret. */
export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  /** The part of the host, such as `"opencode::store"`. docs/log.md has the list. */
  readonly target: string;
  readonly message: string;
  /** The values of the message. Texts of more than 8 KiB are cut. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** The session that the entry is about. */
  readonly sessionID?: string;
  /** The Location that the entry is about. */
  readonly location?: { readonly directory: string };
}

/** The log entries that the program receives, and their destination. Omitted members have their default. */
export interface LogOptions {
  /** The least severe level. Default: `"warn"`. */
  readonly level?: LogLevel | "off" | undefined;
  /** Other levels for some targets, such as `{ "opencode::llm": "debug" }`. Default: none. */
  readonly targets?: Readonly<Record<string, LogLevel | "off" | undefined>> | undefined;
  /**
   * Receives each entry, in order, soon after the host logs it. `close` waits up to 5 seconds for the last call. The
   * function does not keep the process alive. If it throws, the entry is lost, and the process emits one warning with
   * the code `OPENCODE_LOG_SINK`. If it is too slow, the host drops entries and logs their number.
   * Default: process warnings with the code `OPENCODE_LOG`, the same one at most once a minute, and at most 30.
   */
  readonly sink?: ((entry: LogEntry) => void) | undefined;
}

/** Names of variables, in any case. `*` stands for any text. */
export interface CommandEnvironment {
  /** Further variables that commands and terminals do not get. Default: none. */
  readonly omit?: readonly string[] | undefined;
  /** Variables that they always get. Takes precedence over all other rules; `["*"]` selects all. Default: none. */
  readonly keep?: readonly string[] | undefined;
}

/**
 * Options of a listener: its address and its clients. An unknown option or a wrong value rejects with
 * `InvalidOptionError`, which names the option.
 */
export interface ListenOptions {
  /** The port. 0 selects any free port, which `url` contains. Default: 0. */
  readonly port?: number | undefined;
  /**
   * A host name or an address of this machine. An address that other machines can reach needs a password, so it is
   * refused with `password: false`. Default: `"127.0.0.1"`.
   */
  readonly hostname?: string | undefined;
  /**
   * The password that every request must carry: as HTTP Basic, or in the query `auth_token` with the same text.
   * `false` turns it off, also if the environment has one. Then every program of this machine can send requests, if it
   * uses a name of this machine or `hostname`. Web pages need an origin of `cors`.
   * Default: `OPENCODE_SERVER_PASSWORD` of the host's `env`, else a random password, which `listener.password`,
   * `listener.headers` and `listener.clientUrl` contain.
   */
  readonly password?: string | false | undefined;
  /**
   * The user name that clients send with the password. Refused with `password: false`. Default: `OPENCODE_SERVER_USERNAME` of
   * the host's `env`, else `"opencode"`.
   */
  readonly username?: string | undefined;
  /**
   * Origins, such as `"https://app.example"`, whose web pages may read answers, and change data if there is no
   * password. Origins of `http://localhost` and `http://127.0.0.1` with any port, and of Tauri programs, are always
   * allowed. Default: none.
   */
  readonly cors?: readonly string[] | undefined;
  /**
   * Maximum number of bytes of the body of a request. A larger body fails with `InvalidRequestError` and status 413.
   * Default: 67108864 (64 MiB).
   */
  readonly maxBodyBytes?: number | undefined;
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

/**
 * Creates the result of the `load` of a Context Source that could not observe its value.
 *
 * @param reason The reason, for the log and for the failure of a prompt that waits for a required source.
 */
export declare function unavailable(reason: string): Unavailable;

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

/** Creates hosts. */
export declare const OpenCode: {
  /**
   * Opens a host on one SQLite file. Creates the file if it does not exist.
   *
   * Rejects with `InvalidOptionError`, `AddonUnavailableError`, `DatabaseUnavailableError`, `DatabaseVersionError` or
   * `DatabaseInUseError`. A bug of this package rejects with `UnknownError`.
   *
   * @example
   * ```ts
   * await using opencode = await OpenCode.create({ model: "openai/gpt-4.1-mini" })
   * const session = await opencode.sessions.create()
   * ```
   */
  create(options?: OpenCodeOptions): Promise<OpenCodeHost>;
};
