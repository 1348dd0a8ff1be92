import { readFileSync } from "node:fs";
import { rejection } from "../client/support";
import { readHistory, run, setUp, type Setup } from "./support";
import type { CredentialStore, LogEntry, OpenCodeEvent, OpenCodeHost } from "../../index.js";

const KEY = "sk-planted-4711-0815";

/** A host whose provider has the key of a variable, or a stored key. */
function open(setup: Setup, more: object = {}) {
  const config = setup.model.config();
  Object.assign(config.provider.mock, { env: ["MOCK_KEY"] });
  config.provider.mock.options = {} as never;
  Object.assign(config.provider.mock, { api: setup.model.url });
  return setup.open({ config, log: "off", ...more });
}

function authorization(setup: Setup) {
  return setup.model.requests.map(({ headers }) => headers.authorization);
}

async function ask(host: OpenCodeHost) {
  const { id } = await host.sessions.create();
  await run(host, id, "Hi");
  return id;
}

async function integration(host: OpenCodeHost, integrationID: string) {
  return (await host.integrations.get({ integrationID })).data;
}

test("a stored key is used from the next turn on, also by a later host, until it is removed", async () => {
  const setup = await setUp();
  let host = await open(setup);
  await expect(integration(host, "mock")).resolves.toEqual({
    id: "mock",
    name: "Mock",
    methods: [{ type: "key" }, { type: "env", names: ["MOCK_KEY"] }],
    connections: [],
  });
  await host.integrations.connectKey({ integrationID: "mock", key: "sk-first" });
  await host.integrations.connectKey({ integrationID: "mock", key: KEY, label: "work" });
  const found = await integration(host, "mock");
  expect(found?.connections).toEqual([{ type: "credential", id: expect.stringMatching(/^cred_/), label: "work" }]);
  await ask(host);
  await host.close();
  host = await open(setup);
  await ask(host);
  expect(authorization(setup)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);

  const [connection] = (await integration(host, "mock"))?.connections ?? [];
  if (connection?.type !== "credential") throw new Error("no credential");
  await host.credentials.remove({ credentialID: connection.id });
  await expect(integration(host, "mock")).resolves.toMatchObject({ connections: [] });
  await ask(host);
  expect(authorization(setup).at(-1)).toBeUndefined();
});

test("the environment is stronger than a stored key, and the configuration stronger than both", async () => {
  const setup = await setUp();
  let host = await open(setup, { env: { MOCK_KEY: "sk-environment" } });
  await host.integrations.connectKey({ integrationID: "mock", key: "sk-stored" });
  await expect(integration(host, "mock")).resolves.toMatchObject({
    connections: [{ type: "credential" }, { type: "env", name: "MOCK_KEY" }],
  });
  await ask(host);
  await host.close();
  host = await setup.open();
  await ask(host);
  expect(authorization(setup)).toEqual(["Bearer sk-environment", "Bearer secret"]);
});

test("a variable without a credential is no connection", async () => {
  const setup = await setUp();
  const host = await open(setup, { env: { AZURE_RESOURCE_NAME: "mine", OPENAI_API_KEY: "sk" } });
  await expect(integration(host, "azure")).resolves.toMatchObject({
    methods: [{ type: "key" }, { type: "env", names: ["AZURE_RESOURCE_NAME", "AZURE_API_KEY"] }],
    connections: [],
  });
  await expect(integration(host, "openai")).resolves.toMatchObject({
    connections: [{ type: "env", name: "OPENAI_API_KEY" }],
  });
});

test("a key of a provider without configuration offers its models at once", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: {} });
  const events: OpenCodeEvent["type"][] = [];
  const abort = new AbortController();
  const live = host.events.subscribe({ signal: abort.signal });
  const reading = (async () => {
    for await (const { type } of live) {
      events.push(type);
      if (type === "catalog.updated") return;
    }
  })();
  await expect(host.models.list()).resolves.toMatchObject({ data: [] });
  await host.integrations.connectKey({ integrationID: "anthropic", key: KEY });
  await reading;
  abort.abort();
  expect(events).toContain("integration.connection.updated");
  const { data } = await host.models.list();
  expect(data.length).toBeGreaterThan(5);
  expect(new Set(data.map(({ providerID }) => providerID))).toEqual(new Set(["anthropic"]));
});

test.each([
  ["nope", "key", "integrationID"],
  ["mock", " ", "key"],
  ["mock", "a\nb", "key"],
  ["mock", "x".repeat(20_000), "key"],
])("refuses the key of %s: %.10j", async (integrationID, key, field) => {
  const host = await open(await setUp());
  const error = await rejection(host.integrations.connectKey({ integrationID, key }));
  expect(error).toMatchObject({ _tag: "InvalidRequestError", field });
  expect(JSON.stringify(error)).not.toContain("xxxxxxxxxx");
});

test("a stored key appears in no answer, event, export, log or failure", async () => {
  const setup = await setUp();
  const log: string[] = [];
  const sink = (entry: unknown) => log.push(JSON.stringify(entry));
  const host = await open(setup, { log: { level: "trace", sink } as never });
  const seen: string[] = [];
  const abort = new AbortController();
  const live = host.events.subscribe({ signal: abort.signal });
  const reading = (async () => {
    for await (const event of live) seen.push(JSON.stringify(event));
  })().catch(() => {});
  await host.integrations.connectKey({ integrationID: "mock", key: KEY });
  setup.model.reply(
    { status: 401, body: { error: { message: `Incorrect key ${KEY}` } } },
    { text: `Your key is ${KEY}.` },
  );
  const sessionID = await ask(host);
  await run(host, sessionID, "Again");
  const location = { location: { directory: setup.directory } };
  const answers = await Promise.all([
    host.models.list(),
    host.providers.list(),
    host.agents.list(),
    host.integrations.list(),
    host.location.diagnostics(location),
    host.sessions.get({ sessionID }),
    host.sessions.messages({ sessionID }),
    host.sessions.request({ sessionID }),
    host.debug.context(location),
    readHistory(host, sessionID),
  ]);
  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  await host.close();
  abort.abort();
  await reading;
  const texts =
    JSON.stringify(answers) + lines.join("") + log.join("") + seen.filter((it) => !it.includes(".delta")).join("");
  expect(texts).toContain("Incorrect key <redacted>");
  expect(texts).not.toContain(KEY);
});

/** A store of the program, as an editor has one. */
class Vault implements CredentialStore {
  readonly values: Map<string, string> = new Map();
  failure: Error | undefined = undefined;

  get(key: string) {
    this.#check();
    return Promise.resolve(this.values.get(key));
  }

  set(key: string, value: string) {
    this.#check();
    this.values.set(key, value);
  }

  remove(key: string) {
    this.#check();
    this.values.delete(key);
  }

  #check() {
    if (this.failure !== undefined) throw this.failure;
  }
}

test("a store of the program has the values, and the database has none", async () => {
  const setup = await setUp();
  const credentials = new Vault();
  let host = await open(setup, { credentials });
  await host.integrations.connectKey({ integrationID: "mock", key: KEY });
  await ask(host);
  await host.close();
  expect([...credentials.values.values()]).toEqual([expect.stringContaining(KEY)]);
  for (const file of [setup.database, `${setup.database}-wal`]) {
    let bytes = Buffer.alloc(0);
    try {
      bytes = readFileSync(file);
    } catch {
      continue;
    }
    expect(bytes.includes(KEY)).toBe(false);
  }
  host = await open(setup, { credentials });
  await ask(host);
  expect(authorization(setup)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);

  credentials.failure = new Error("locked");
  const error = await rejection(host.integrations.connectKey({ integrationID: "mock", key: "sk-other" }));
  expect(error).toMatchObject({ _tag: "ServiceUnavailableError", service: "credentials" });
  expect(JSON.stringify(error)).not.toContain("sk-other");
  credentials.failure = undefined;
  await ask(host);
  expect(authorization(setup).at(-1)).toBe(`Bearer ${KEY}`);
  const [connection] = (await integration(host, "mock"))?.connections ?? [];
  if (connection?.type !== "credential") throw new Error("no credential");
  await host.credentials.remove({ credentialID: connection.id });
  expect(credentials.values.size).toBe(0);
});

test("a value that is no key is logged, and the other keys are used", async () => {
  const setup = await setUp();
  const credentials = new Vault();
  let host = await open(setup, { credentials });
  await host.integrations.connectKey({ integrationID: "mock", key: KEY });
  await host.integrations.connectKey({ integrationID: "openai", key: "sk-other" });
  await host.close();
  for (const [key, value] of credentials.values) {
    if (value.includes("sk-other")) credentials.values.set(key, "sk-other of another program");
  }
  const log: LogEntry[] = [];
  host = await open(setup, { credentials, log: { level: "warn", sink: (entry: LogEntry) => log.push(entry) } });
  await ask(host);
  expect(authorization(setup)).toEqual([`Bearer ${KEY}`]);
  await host.close();
  expect(log).toContainEqual(
    expect.objectContaining({
      message: "the value of a credential is unreadable; store the key again",
      fields: expect.objectContaining({ integration: "openai" }),
    }),
  );
  expect(JSON.stringify(log)).not.toContain("sk-other");
});
