// Sign-ins of users at a provider, through the public methods.

import { readFileSync } from "node:fs";
import { rejection } from "../client/support";
import { AuthorizationServer } from "../mcp/authorization-server";
import { findPort } from "../mcp/support";
import { readHistory, readUntil, run, setUp, subscribe, type Setup } from "./support";
import type { OpenCodeHost } from "../../index.js";

let server: AuthorizationServer;

beforeEach(async () => {
  server = await AuthorizationServer.start();
});

afterEach(() => server.close());

/** A host whose provider has no key, and the application of the program at it. */
async function open(setup: Setup, more: object = {}) {
  const config = setup.model.config();
  Object.assign(config.provider.mock, { env: ["MOCK_KEY"], api: setup.model.url, options: {} });
  const mock = {
    clientId: "editor",
    tokenUrl: `${server.origin}/token`,
    authorizationUrl: `${server.origin}/authorize`,
    deviceUrl: `${server.origin}/device`,
    redirectUrl: `http://127.0.0.1:${await findPort()}/callback`,
    scopes: ["models"],
  };
  return setup.open({ config, oauth: { mock }, ...more });
}

async function connect(host: OpenCodeHost, methodID: string) {
  const { data } = await host.integrations.connectOauth({ integrationID: "mock", methodID, inputs: {}, label: "mine" });
  return data;
}

/** Gives consent like a user in a browser, and waits until the host is connected. */
async function signIn(host: OpenCodeHost) {
  const events = await subscribe(host);
  const attempt = await connect(host, "browser");
  const page = await fetch(server.consent(attempt.url));
  expect(page.status).toBe(200);
  await readUntil(events, "integration.connection.updated");
  return attempt;
}

function tokens(setup: Setup) {
  return setup.model.requests.map(({ headers }) => headers.authorization?.replace(/^Bearer /, ""));
}

async function ask(host: OpenCodeHost) {
  const { id } = await host.sessions.create();
  await run(host, id, "Hi");
  return id;
}

test("a user signs in with a browser, and a later host uses the tokens", async () => {
  const setup = await setUp();
  let host = await open(setup);
  const before = await host.integrations.get({ integrationID: "mock" });
  expect(before.data).toEqual({
    id: "mock",
    name: "Mock",
    methods: [
      { type: "key" },
      { type: "env", names: ["MOCK_KEY"] },
      { type: "oauth", id: "browser", label: "Sign in in the browser" },
      { type: "oauth", id: "device", label: "Sign in with a code on any device" },
    ],
    connections: [],
  });
  const attempt = await signIn(host);
  expect(attempt.mode).toBe("auto");
  await ask(host);
  await host.close();
  host = await open(setup);
  await ask(host);
  const [first, second] = tokens(setup);
  expect(first).toMatch(/^access-/);
  expect(second).toBe(first);
  expect(server.grants).toEqual(["authorization_code"]);
  const { data } = await host.integrations.get({ integrationID: "mock" });
  expect(data?.connections).toMatchObject([{ type: "credential", label: "mine" }]);
});

test("a user signs in with a code on any device", async () => {
  const setup = await setUp();
  const host = await open(setup);
  const events = await subscribe(host);
  const attempt = await connect(host, "device");
  expect(attempt).toMatchObject({
    mode: "auto",
    url: `${server.origin}/enter`,
    instructions: "Open the page and enter the code WDJB-MJHT there.",
  });
  server.isEntered = true;
  await readUntil(events, "integration.connection.updated");
  await ask(host);
  expect(tokens(setup)).toEqual([expect.stringMatching(/^access-/)]);
});

test("eight sessions share each renewal of a token", async () => {
  const setup = await setUp();
  const host = await open(setup);
  // Each token has ended when it arrives.
  server.lifetime = 0;
  await signIn(host);
  await Promise.all(Array.from({ length: 8 }, () => ask(host)));
  const used = new Set(tokens(setup));
  const renewals = server.grants.filter((kind) => kind === "refresh_token").length;
  expect(setup.model.requests).toHaveLength(8);
  expect(used.size).toBe(renewals);
});

test("a token that the provider refuses is renewed within the turn", async () => {
  const setup = await setUp();
  const host = await open(setup);
  await signIn(host);
  setup.model.reply({ status: 401, body: { error: { message: "Unknown token" } } }, { text: "Hello" });
  const { id } = await host.sessions.create();
  await run(host, id, "Hi");
  const [answer] = (await host.sessions.messages({ sessionID: id, limit: 1 })).items;
  expect(answer).toMatchObject({ type: "assistant", content: [{ type: "text", text: "Hello" }] });
  expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
  expect(new Set(tokens(setup)).size).toBe(2);
});

test("a sign-in that the provider ended fails the turn with the way out", async () => {
  const setup = await setUp();
  const host = await open(setup);
  server.lifetime = 0;
  await signIn(host);
  server.forget();
  const { id } = await host.sessions.create();
  await run(host, id, "Hi");
  const [answer] = (await host.sessions.messages({ sessionID: id, limit: 1 })).items;
  expect(answer).toMatchObject({
    type: "assistant",
    error: { message: expect.stringContaining("Sign in again with integrations.connectOauth") },
  });
  expect(setup.model.requests).toEqual([]);
});

test("an unknown method and an unknown provider are refused", async () => {
  const host = await open(await setUp());
  const method = host.integrations.connectOauth({ integrationID: "mock", methodID: "oauth", inputs: {} });
  await expect(rejection(method)).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "methodID" });
  const other = host.integrations.connectOauth({ integrationID: "nope", methodID: "browser", inputs: {} });
  await expect(rejection(other)).resolves.toMatchObject({ _tag: "InvalidRequestError", field: "integrationID" });
});

test("no token appears in an answer, event, export, log or failure", async () => {
  const setup = await setUp();
  const log: string[] = [];
  const sink = (entry: unknown) => log.push(JSON.stringify(entry));
  const host = await open(setup, { log: { level: "trace", sink } });
  const events: string[] = [];
  const abort = new AbortController();
  const live = host.events.subscribe({ signal: abort.signal });
  const reading = (async () => {
    for await (const event of live) events.push(JSON.stringify(event));
  })().catch(() => {});
  server.lifetime = 0;
  const attempt = await signIn(host);
  server.lifetime = 3600;
  const sessionID = await ask(host);
  // A provider that repeats the token in its failure.
  setup.model.reply({ status: 403, body: { error: { message: `Unknown token ${tokens(setup)[0]}` } } });
  await run(host, sessionID, "Again");
  const answers = await Promise.all([
    host.integrations.list(),
    host.integrations.attemptStatus({ attemptID: attempt.attemptID }),
    host.models.list(),
    host.providers.list(),
    host.sessions.messages({ sessionID }),
    host.sessions.request({ sessionID }),
    host.location.diagnostics({ location: { directory: setup.directory } }),
    readHistory(host, sessionID),
  ]);
  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  await host.close();
  abort.abort();
  await reading;
  const shown = JSON.stringify([answers, lines, log, events]);
  expect(shown).toContain("Unknown token <redacted>");
  // A code, two access tokens and two refresh tokens at least.
  expect(server.secrets.length).toBeGreaterThanOrEqual(5);
  expect(server.secrets.filter((secret) => shown.includes(secret))).toEqual([]);
  expect(readFileSync(setup.database).includes("access-")).toBe(true);
});
