import { os, path, url } from "./builtins.js";
import { checkOptions } from "./checks.js";
import { resolveLog } from "./log.js";
import type {
  CommandEnvironment,
  Deadlines,
  Limits,
  PermissionRules,
  PtyEnvironmentHook,
  RetryPolicy,
  TrustFunction,
  Unanswered,
} from "../index.js";
import type { ResolvedLog } from "./log.js";

/** The options of the native host. It looks nothing up by itself. */
interface NativeOptions {
  directory: string;
  /** An absolute path, or ":memory:". */
  database: string;
  home: string;
  dataDirectory: string;
  configDirectory: string;
  cacheDirectory: string;
  model: string | undefined;
  apiKey: string | undefined;
  baseURL: string | undefined;
  config: object;
  env: Record<string, string>;
  commandEnvironment: { omit: readonly string[]; keep: readonly string[] };
  durability: "normal" | "full";
  recovery: "manual" | "resume";
  permissions: { unanswered: Unanswered; ceiling: PermissionRules | undefined };
  trust: "never" | "always" | "ask";
  limits: { inbox: number; steerBatch: number; subagentDepth: number; subagents: number };
  retry: { maxElapsedMs: number; maxAttempts: number; maxDelayMs: number };
  /** An absent deadline is no limit. */
  deadlines: { connectMs?: number; firstByteMs?: number; idleMs?: number; requestMs?: number };
}

type ResolvedOptions = NativeOptions & {
  keepAlive: boolean;
  ptyEnvironment: PtyEnvironmentHook | undefined;
  decideTrust: TrustFunction | undefined;
  log: ResolvedLog;
};

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
export function resolveOptions(given: unknown): ResolvedOptions {
  const options = checkOptions(given);
  const env = copyEnv(options.env ?? process.env);
  const home = path.resolve(options.home ?? (env.HOME || os.homedir()));
  // With another home directory the variables of this process do not apply. They would point to the real home.
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

function defaultFolder(base: string | undefined, home: string, fallback: string) {
  return path.join(base || path.join(home, fallback), "opencode");
}

function resolveDatabase(database: string) {
  if (database === ":memory:") return database;
  return path.resolve(/^file:/i.test(database) ? url.fileURLToPath(database) : database);
}

function resolveTrust(trust: boolean | TrustFunction): Pick<ResolvedOptions, "trust" | "decideTrust"> {
  if (typeof trust === "function") return { trust: "ask", decideTrust: trust };
  return { trust: trust ? "always" : "never", decideTrust: undefined };
}

function resolveCommandEnvironment({ omit = [], keep = [] }: CommandEnvironment) {
  return { omit: [...omit], keep: [...keep] };
}

function resolveLimits({
  inbox = INBOX,
  steerBatch = inbox,
  subagentDepth = SUBAGENT_DEPTH,
  subagents = SUBAGENTS,
}: Limits) {
  return { inbox, steerBatch, subagentDepth, subagents };
}

function resolveRetry(retry: false | RetryPolicy): NativeOptions["retry"] {
  if (retry === false) return { maxElapsedMs: 0, maxAttempts: 1, maxDelayMs: 0 };
  const { maxElapsedMs = MAX_ELAPSED_MS, maxAttempts = Number.MAX_SAFE_INTEGER, maxDelayMs = MAX_DELAY_MS } = retry;
  return { maxElapsedMs, maxAttempts, maxDelayMs };
}

function resolveDeadlines(deadlines: "interactive" | Deadlines): NativeOptions["deadlines"] {
  const given = deadlines === "interactive" ? INTERACTIVE : deadlines;
  const resolved: NativeOptions["deadlines"] = {};
  for (const [name, value] of Object.entries({ connectMs: CONNECT_MS, ...given })) {
    if (typeof value === "number") resolved[name as keyof NativeOptions["deadlines"]] = value;
  }
  return resolved;
}

function copyEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) copy[name] = value;
  return copy;
}
