import os from "node:os";
import path from "node:path";
import { resolveOptions } from "../../dist/host/options.js";

const cwd = process.cwd();
const at = (...parts: string[]) => path.resolve("/", ...parts);

/** The failure that the check of the options throws. */
function refusal(options: unknown): any {
  try {
    resolveOptions(options);
  } catch (error) {
    return error;
  }
  throw new Error("The options were accepted");
}

describe("defaults", () => {
  const original = process.env;
  beforeEach(() => {
    process.env = { HOME: "/home/process", XDG_DATA_HOME: "/xdg/data", XDG_CONFIG_HOME: "/xdg/config" };
  });
  afterEach(() => {
    process.env = original;
  });

  test("come from the process if no option is given", () => {
    expect(resolveOptions(undefined)).toEqual({
      native: {
        directory: cwd,
        database: at("xdg/data/opencode/embedded/opencode.db"),
        home: at("home/process"),
        dataDirectory: at("xdg/data/opencode"),
        configDirectory: at("xdg/config/opencode"),
        cacheDirectory: at("home/process/.cache/opencode"),
        env: { HOME: "/home/process", XDG_DATA_HOME: "/xdg/data", XDG_CONFIG_HOME: "/xdg/config" },
        trust: "never",
      },
      keepAlive: true,
      plugins: [],
      log: { level: "warn", targets: {} },
    });
  });

  test("accept a function, a level or an object as the log", () => {
    const sink = () => {};
    expect(resolveOptions({ log: sink }).log).toEqual({ level: "warn", targets: {}, sink });
    expect(resolveOptions({ log: "debug" }).log).toEqual({ level: "debug", targets: {} });
    const targets = { "opencode::store": "off" };
    const log = { level: "info", targets: { ...targets, "opencode::llm": undefined }, sink };
    expect(resolveOptions({ log }).log).toEqual({ level: "info", targets, sink });
  });

  test("refuse an instance of a class as options", () => {
    for (const given of [new Date(), new Map(), Promise.resolve(), new AbortController()]) {
      expect(refusal(given)).toMatchObject({ _tag: "InvalidOptionError", option: "options" });
      expect(refusal({ limits: given })).toMatchObject({ _tag: "InvalidOptionError", option: "limits" });
    }
    expect(refusal(new Date()).message).toBe("The options must be an object, got an object of the class Date");
    expect(resolveOptions(Object.create(null))).toEqual(resolveOptions({}));
  });

  test("ignore the variables of the process if a home is given", () => {
    expect(resolveOptions({ home: "/home/given" }).native).toMatchObject({
      database: at("home/given/.local/share/opencode/embedded/opencode.db"),
      home: at("home/given"),
      dataDirectory: at("home/given/.local/share/opencode"),
      configDirectory: at("home/given/.config/opencode"),
      cacheDirectory: at("home/given/.cache/opencode"),
      env: { HOME: "/home/process" },
    });
  });

  test("use the variables of the given environment if a home and an environment are given", () => {
    const env = { HOME: "/home/env", XDG_CACHE_HOME: "/xdg/cache", XDG_DATA_HOME: "" };
    expect(resolveOptions({ home: "/home/given", env }).native).toMatchObject({
      home: at("home/given"),
      dataDirectory: at("home/given/.local/share/opencode"),
      configDirectory: at("home/given/.config/opencode"),
      cacheDirectory: at("xdg/cache/opencode"),
      env,
    });
  });

  test("replace the environment of the process by a given environment", () => {
    expect(resolveOptions({ env: { HOME: "/home/env" } }).native).toMatchObject({
      home: at("home/env"),
      dataDirectory: at("home/env/.local/share/opencode"),
      configDirectory: at("home/env/.config/opencode"),
      env: { HOME: "/home/env" },
    });
    expect(resolveOptions({ env: {} }).native).toMatchObject({ home: os.homedir(), env: {} });
    expect(resolveOptions({ env: { HOME: "" } }).native).toMatchObject({ home: os.homedir() });
  });

  test("place the database in the data directory", () => {
    expect(resolveOptions({ dataDirectory: "/data" }).native).toMatchObject({
      dataDirectory: at("data"),
      database: at("data/embedded/opencode.db"),
    });
  });
});

test("keeps every option that is given", () => {
  const options = {
    directory: at("project"),
    database: at("file.db"),
    home: at("home"),
    dataDirectory: at("data"),
    configDirectory: at("config"),
    cacheDirectory: at("cache"),
    config: { model: "provider/model" },
    env: { A: "1" },
    commandEnvironment: { omit: ["A_*"], keep: ["A_1"] },
    durability: "full",
    recovery: "resume",
    timezone: "UTC",
    titles: true,
    reminders: true,
    permissions: { unanswered: { denyAfterMs: 5 }, ceiling: { bash: "deny" } },
    plugins: [() => {}],
    trust: true,
    limits: { inbox: 1, steerBatch: 2, subagentDepth: 3, subagents: 4, toolCallsPerTurn: 5, toolCallsAtOnce: 6 },
    retry: { maxElapsedMs: 1, maxAttempts: 2, maxDelayMs: 3 },
    deadlines: { connectMs: 1, firstByteMs: 2, idleMs: 3, requestMs: 4 },
    budgets: { session: { tokens: 1, cost: 0.5 }, host: { turns: 2, durationMs: 3 } },
    fallback: ["provider/other"],
    keepAlive: false,
    log: { level: "info", targets: { "opencode::store": "trace" }, sink: () => {} },
  };
  const { keepAlive, log, plugins, ...values } = options;
  expect(resolveOptions(options)).toEqual({ native: { ...values, trust: "always" }, keepAlive, log, plugins });
  const share = { publish: () => ({ url: "https://a" }), remove: () => {} };
  expect(resolveOptions({ share })).toMatchObject({ native: { share: "manual" }, share });
  expect(resolveOptions({ share: { ...share, mode: "auto" } })).toMatchObject({ native: { share: "auto" } });
  const credentials = { get: () => undefined, set: () => {}, remove: () => {} };
  expect(resolveOptions({ credentials })).toMatchObject({ native: { credentials: true }, credentials });
  expect(refusal({ credentials: { get: () => undefined } })).toMatchObject({ option: "credentials.set" });
  const decideTrust = () => false;
  expect(resolveOptions({ trust: decideTrust })).toMatchObject({ native: { trust: "ask" }, decideTrust });
});

test("resolves relative paths against the working directory", () => {
  const options = { directory: "a", database: "b.db", home: "c", dataDirectory: "d", env: { XDG_CACHE_HOME: "e" } };
  expect(resolveOptions(options).native).toMatchObject({
    directory: path.join(cwd, "a"),
    database: path.join(cwd, "b.db"),
    home: path.join(cwd, "c"),
    dataDirectory: path.join(cwd, "d"),
    cacheDirectory: path.join(cwd, "e", "opencode"),
    configDirectory: path.join(cwd, "c", ".config", "opencode"),
  });
});

test("does not resolve :memory: as a path", () => {
  expect(resolveOptions({ database: ":memory:", env: {} }).native.database).toBe(":memory:");
});

test("accepts a file: URL as the database, and takes a letter before a colon for a drive", () => {
  expect(resolveOptions({ database: "file:///data/a%20b.db", env: {} }).native.database).toBe(
    path.resolve("/data/a b.db"),
  );
  expect(resolveOptions({ database: "C:\\x.db", env: {} }).native.database).toBe(path.resolve("C:\\x.db"));
});

test("treats an undefined option as absent", () => {
  const options = { durability: undefined, keepAlive: undefined, limits: undefined, env: {}, home: "/h" };
  expect(resolveOptions(options)).toEqual(resolveOptions({ env: {}, home: "/h" }));
});

test("copies the environment", () => {
  const env: Record<string, string | undefined> = { A: "1", B: undefined };
  const resolved = resolveOptions({ env });
  env.A = "2";
  expect(resolved.native.env).toEqual({ A: "1" });
});

test.each([
  ["directroy", "directory"],
  ["Directory", "directory"],
  ["dir", "directory"],
  ["cwd", "directory"],
  ["db", "database"],
  ["databse", "database"],
  ["databasePath", "database"],
  ["dataDir", "dataDirectory"],
  ["data_directory", "dataDirectory"],
  ["configDir", "configDirectory"],
  ["configuration", "config"],
  ["environment", "env"],
  ["durabilty", "durability"],
  ["recover", "recovery"],
  ["keepalive", "keepAlive"],
  ["limit", "limits"],
])("suggests a name for the unknown option %s: %s", (option, intended) => {
  const error = refusal({ [option]: "x" });
  expect({ ...error }).toEqual({
    _tag: "InvalidOptionError",
    option,
    message: `Unknown option "${option}". Did you mean "${intended}"?`,
  });
  expect(error).toBeInstanceOf(Error);
});

test.each(["x", "listen", "toString", "__proto__", "y".repeat(10_000)])(
  "suggests no name for an unknown option that resembles none: %.20s",
  (option) => {
    expect({ ...refusal(JSON.parse(`{${JSON.stringify(option)}:"x"}`)) }).toEqual({
      _tag: "InvalidOptionError",
      option,
      message: `Unknown option ${JSON.stringify(option)}`,
    });
  },
);

test.each([
  ["inbxo", '. Did you mean "limits.inbox"?'],
  ["steer", '. Did you mean "limits.steerBatch"?'],
  ["subagent", '. Did you mean "limits.subagentDepth"?'],
  ["toString", ""],
])("names the unknown limit %s with its place", (limit, hint) => {
  const option = `limits.${limit}`;
  expect({ ...refusal({ limits: { [limit]: 1 } }) }).toEqual({
    _tag: "InvalidOptionError",
    option,
    message: `Unknown option "${option}"${hint}`,
  });
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

test.each<[option: string, value: unknown, message: string | RegExp]>([
  ["directory", "", 'Option "directory" must be a non-empty string, got ""'],
  ["directory", 5, 'Option "directory" must be a non-empty string, got 5'],
  ["database", null, 'Option "database" must be a non-empty string, got null'],
  ["database", "a\0b", 'Option "database" must not contain a NUL character'],
  [
    "database",
    "postgres://user:secret@host/db",
    'Option "database" must be a path, a "file:" URL or ":memory:", got a value with the scheme "postgres:"',
  ],
  ["database", "libsql:x.db", /got a value with the scheme "libsql:"$/],
  ["database", "file:x.db", /; a URL must be absolute, without host, query and fragment$/],
  ["database", "file://server/x.db", /; a URL must be absolute/],
  ["database", "file:///x.db?mode=ro", /; a URL must be absolute/],
  ["home", ["/"], 'Option "home" must be a non-empty string, got an array'],
  ["dataDirectory", {}, 'Option "dataDirectory" must be a non-empty string, got an object'],
  ["configDirectory", true, 'Option "configDirectory" must be a non-empty string, got true'],
  ["cacheDirectory", () => {}, 'Option "cacheDirectory" must be a non-empty string, got a function'],
  ["config", "{}", 'Option "config" must be an object, got "{}"'],
  ["config", [], 'Option "config" must be an object, got an array'],
  ["config", cycle, /^Option "config" must be representable as JSON: /],
  ["env", "A=1", 'Option "env" must be an object of strings, got "A=1"'],
  ["env", { A: "1", B: 2 }, 'Option "env" must hold strings, but "B" is 2'],
  ["commandEnvironment", ["A"], 'Option "commandEnvironment" must be an object, got an array'],
  ["durability", "always", 'Option "durability" must be "normal" or "full", got "always"'],
  ["durability", null, 'Option "durability" must be "normal" or "full", got null'],
  ["recovery", "auto", 'Option "recovery" must be "manual" or "resume", got "auto"'],
  ["recovery", true, 'Option "recovery" must be "manual" or "resume", got true'],
  ["keepAlive", "no", 'Option "keepAlive" must be true or false, got "no"'],
  ["keepAlive", 0, 'Option "keepAlive" must be true or false, got 0'],
  ["limits", 5, 'Option "limits" must be an object, got 5'],
  ["retry", true, 'Option "retry" must be false or an object, got true'],
  ["deadlines", "fast", 'Option "deadlines" must be "interactive" or an object, got "fast"'],
  ["limits", [], 'Option "limits" must be an object, got an array'],
  ["budgets", 5, 'Option "budgets" must be an object, got 5'],
  ["fallback", "a/b", 'Option "fallback" must be an array, got "a/b"'],
])("option %s refuses %p", (option, value, message) => {
  const error = refusal({ [option]: value });
  expect({ ...error }).toEqual({ _tag: "InvalidOptionError", option, message: expect.stringMatching(message) });
  if (typeof message === "string") expect(error.message).toBe(message);
});

test.each<[options: object, option: string, problem: string]>([
  [{ config: { big: 1n } }, "config.big", "a value of JSON, got a bigint"],
  [{ config: { agent: { build: { steps: NaN } } } }, "config.agent.build.steps", "a finite number, got NaN"],
  [{ config: { compaction: { reserved: -Infinity } } }, "config.compaction.reserved", "a finite number, got -Infinity"],
  [{ mcp: { x: { timeout: { request: Infinity } } } }, "mcp.x.timeout.request", "a finite number, got Infinity"],
  [{ config: { instructions: [new Date(NaN)] } }, "config.instructions[0]", "a value of JSON, got Invalid Date"],
  [{ config: { permission: new Map() } }, "config.permission", "a value of JSON, got [object Map]"],
  [{ permissions: { ceiling: { bash: () => "deny" } } }, "permissions.ceiling.bash", "a value of JSON, got a function"],
  [{ permissions: { ceiling: new Map() } }, "permissions.ceiling", "a value of JSON, got [object Map]"],
  [
    { permissions: { ceiling: [Promise.resolve()] } },
    "permissions.ceiling[0]",
    "a value of JSON, got [object Promise]",
  ],
])("options %p are refused, because JSON would change %s", (options, option, problem) => {
  const message = `Option "${option}" must be ${problem}`;
  expect({ ...refusal(options) }).toEqual({ _tag: "InvalidOptionError", option, message });
});

test.each([
  ["inbox", 0, "0"],
  ["inbox", -1, "-1"],
  ["inbox", 1.5, "1.5"],
  ["inbox", Number.NaN, "NaN"],
  ["inbox", Infinity, "Infinity"],
  ["inbox", 2 ** 53, "9007199254740992"],
  ["inbox", "10", '"10"'],
  ["inbox", null, "null"],
  ["steerBatch", 10n, "a bigint"],
  ["steerBatch", 0, "0"],
])("limit %s refuses %p", (limit, value, given) => {
  const option = `limits.${limit}`;
  const message = `Option "${option}" must be a whole number from 1 on, got ${given}`;
  expect({ ...refusal({ limits: { [limit]: value } }) }).toEqual({ _tag: "InvalidOptionError", option, message });
});

test.each([
  ["tokens", 0.5, "a whole number from 0 on, got 0.5"],
  ["turns", -1, "a whole number from 0 on, got -1"],
  ["durationMs", 2 ** 53, "a whole number from 0 on, got 9007199254740992"],
  ["cost", -0.1, "a number from 0 on, got -0.1"],
  ["cost", Infinity, "a number from 0 on, got Infinity"],
  ["cost", "1", 'a number from 0 on, got "1"'],
])("the limit %s of a budget refuses %p", (limit, value, expected) => {
  const option = `budgets.host.${limit}`;
  const message = `Option "${option}" must be ${expected}`;
  expect({ ...refusal({ budgets: { host: { [limit]: value } } }) }).toEqual({
    _tag: "InvalidOptionError",
    option,
    message,
  });
  expect(() => resolveOptions({ budgets: { session: { tokens: 0, cost: 0, turns: 0, durationMs: 0 } } })).not.toThrow();
});

test.each([[null], ["/project"], [[]], [5]])("refuses options that are not an object: %p", (options) => {
  expect(refusal(options)).toMatchObject({ _tag: "InvalidOptionError", option: "options" });
});
