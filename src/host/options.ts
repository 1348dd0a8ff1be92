import { os, path, url } from "./builtins.js";
import { checkRecord } from "./checks.js";
import { openCodeOptions } from "./generated/checks.js";
import { resolveLog } from "./log.js";
import type {
  CredentialStore,
  OpenCodeOptions,
  Plugin,
  PtyEnvironmentHook,
  ShareOptions,
  TrustFunction,
} from "../index.js";
import type { ResolvedLog } from "./log.js";

/** The options of the native host: those with a value, absolute paths, and the environment. */
type NativeOptions = Omit<
  OpenCodeOptions,
  "credentials" | "keepAlive" | "log" | "plugins" | "ptyEnvironment" | "share" | "trust" | Folder | "env"
> &
  Readonly<Record<Folder, string>> & {
    readonly env: Record<string, string>;
    readonly trust: "never" | "always" | "ask";
    readonly share?: "manual" | "auto";
    readonly credentials?: true;
  };

/** Options whose default depends on this process. */
type Folder = "directory" | "database" | "home" | "dataDirectory" | "configDirectory" | "cacheDirectory";

interface ResolvedOptions {
  readonly native: NativeOptions;
  readonly keepAlive: boolean;
  readonly plugins: readonly Plugin[];
  readonly ptyEnvironment: PtyEnvironmentHook | undefined;
  readonly decideTrust: TrustFunction | undefined;
  readonly share: ShareOptions | undefined;
  readonly credentials: CredentialStore | undefined;
  readonly log: ResolvedLog;
}

/**
 * Checks the options, and adds the folders and the environment, so that the native host reads nothing of this process.
 * The native host has the other defaults. Throws the tagged failure `InvalidOptionError`.
 */
export function resolveOptions(given: unknown): ResolvedOptions {
  const {
    keepAlive = true,
    log,
    plugins = [],
    ptyEnvironment,
    share,
    credentials,
    trust = false,
    ...values
  }: OpenCodeOptions = checkRecord(given, openCodeOptions);
  const env = copyEnv(values.env ?? process.env);
  const decideTrust = typeof trust === "function" ? trust : undefined;
  return {
    native: {
      ...values,
      ...resolveFolders(values, env),
      env,
      trust: nameTrust(trust),
      ...nameShare(share),
      ...(credentials === undefined ? {} : { credentials: true as const }),
    },
    keepAlive,
    // A copy, because the plugins are called later.
    plugins: [...plugins],
    ptyEnvironment,
    decideTrust,
    share,
    credentials,
    log: resolveLog(log),
  };
}

function resolveFolders(options: OpenCodeOptions, env: Record<string, string>): Readonly<Record<Folder, string>> {
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
  };
}

function defaultFolder(base: string | undefined, home: string, fallback: string) {
  return path.join(base || path.join(home, fallback), "opencode");
}

function resolveDatabase(database: string) {
  if (database === ":memory:") return database;
  return path.resolve(/^file:/i.test(database) ? url.fileURLToPath(database) : database);
}

function nameShare(share: ShareOptions | undefined) {
  return share === undefined ? {} : { share: share.mode ?? ("manual" as const) };
}

function nameTrust(trust: boolean | TrustFunction) {
  if (typeof trust === "function") return "ask";
  return trust ? "always" : "never";
}

function copyEnv(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) copy[name] = value;
  return copy;
}
