// The options of `OpenCode.create`.

import type { SessionBudget, SessionInfo } from "../client/index.js";
import type { JsonValue, Plugin, PtyEnvironmentHook } from "../index.js";
import type { McpConfig, OpenCodeConfig } from "./generated/config.js";

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
  /** Maximum number of tool calls of one answer that run. A further call fails with the reason. Default: 200. */
  readonly toolCallsPerTurn?: number | undefined;
  /** Maximum number of tool calls of one answer that run at the same time. Further calls wait. Default: 32. */
  readonly toolCallsAtOnce?: number | undefined;
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

/**
 * The OAuth application of the program at a provider of models. With it users sign in with `integrations.connectOauth`:
 * `authorizationUrl` offers the method `browser` (RFC 6749 with RFC 7636), `deviceUrl` the method `device` (RFC 8628).
 * At least one of them is needed. Addresses begin with `https://`, or with `http://` for this machine.
 */
export interface ProviderOAuth {
  /** The id that the provider gave to your application. */
  readonly clientId: string;
  /** Its secret, which the host sends in the body of requests. Programs of users usually have none. Default: none. */
  readonly clientSecret?: string | undefined;
  /** The token endpoint. */
  readonly tokenUrl: string;
  /** The authorization endpoint: the page on which the user gives consent. */
  readonly authorizationUrl?: string | undefined;
  /** The device authorization endpoint: it gives a code that the user enters on a page on any device. */
  readonly deviceUrl?: string | undefined;
  /**
   * The address to which the provider redirects the browser. If it is one of this machine, the host listens there during
   * a sign-in. Otherwise, and if the port is in use, the user enters the code. Default:
   * `http://127.0.0.1:19876/oauth/callback`.
   */
  readonly redirectUrl?: string | undefined;
  /** The scopes to request. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Other parameters of the authorization page and of the request for a device code, such as `audience`. Default: none. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
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
   * The time zone of the user, a name of the zone database such as `"Europe/Oslo"`. It decides about the date that
   * models read. Default: the key `timezone` of the configuration, else `TZ` of `env`, else the zone of the machine.
   */
  readonly timezone?: string | undefined;
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
   * The OAuth applications of the program, by the id of the provider. Users sign in at these providers with
   * `integrations.connectOauth`. The host keeps the tokens like keys, and renews them before they expire. Default: none.
   */
  readonly oauth?: Readonly<Record<string, ProviderOAuth>> | undefined;
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
