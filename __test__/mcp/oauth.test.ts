// The authorization of a host at a remote MCP server, through the public methods.

import { readFileSync, statSync } from "node:fs";
import type { LogEntry, OpenCodeHost } from "../../index.js";
import { readUntil, setUp, subscribe } from "../embedded/support";
import type { Setup } from "../embedded/support";
import { callTools, readCalls } from "../program/support";
import { AuthorizationServer } from "./authorization-server";
import { findPort, readServer } from "./support";

let server: AuthorizationServer;

beforeEach(async () => {
  server = await AuthorizationServer.start();
});

afterEach(() => server.close());

async function open(setup: Setup, more: object = {}) {
  const oauth = { callbackPort: await findPort() };
  return setup.open({ mcp: { notes: { type: "remote", url: server.url, oauth } }, ...more });
}

function connect(host: OpenCodeHost) {
  return host.integrations.connectOauth({ integrationID: "mcp:notes", methodID: "oauth", inputs: {} });
}

/** Gives consent like a user in a browser, and waits until the server is connected. */
async function authorize(host: OpenCodeHost) {
  const { data: found } = await host.mcp.reconnect({ name: "notes" });
  expect(found.status.status).toMatch(/^needs_/);
  const events = await subscribe(host);
  const { data: attempt } = await connect(host);
  const page = await fetch(server.consent(attempt.url));
  expect(page.status).toBe(200);
  for (;;) {
    if ((await readServer(host, "notes")).status.status === "connected") break;
    await readUntil(events, "mcp.updated");
  }
  const { data: state } = await host.integrations.attemptStatus({ attemptID: attempt.attemptID });
  expect(state.status).toBe("complete");
  return attempt;
}

test("a user gives consent once, and the tokens survive the host", async () => {
  const setup = await setUp();
  const log: LogEntry[] = [];
  const host = await open(setup, { log: { level: "trace", sink: (entry: LogEntry) => log.push(entry) } });
  await host.mcp.reconnect({ name: "notes" });
  expect(await readServer(host, "notes")).toMatchObject({ status: { status: "needs_auth" }, tools: [] });
  const { data: before } = await host.integrations.list();
  expect(before[0]).toMatchObject({ id: "mcp:notes", methods: [{ type: "oauth" }], connections: [] });
  const attempt = await authorize(host);
  expect(attempt.mode).toBe("auto");
  const session = await host.sessions.create();
  const started = { setup, host, model: setup.model, session, sessionID: session.id };
  expect(await callTools(started, { name: "notes_echo", input: {} })).toEqual(["echoed"]);
  const { data: after } = await host.integrations.get({ integrationID: "mcp:notes" });
  expect(after?.connections).toMatchObject([{ type: "credential" }]);

  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID: session.id })) lines.push(line);
  const shown = JSON.stringify([log, lines, before, after, await host.mcp.list()]);
  expect(server.secrets.length).toBeGreaterThanOrEqual(3);
  expect(server.secrets.filter((secret) => shown.includes(secret))).toEqual([]);
  await host.close();
  expect(statSync(setup.database).mode & 0o077).toBe(0);

  const again = await open(setup);
  const { data: reopened } = await again.mcp.reconnect({ name: "notes" });
  expect(reopened.status).toEqual({ status: "connected" });
  expect(server.grants).toEqual(["authorization_code"]);
});

test("fifty calls with a revoked token renew it once", async () => {
  const setup = await setUp();
  const host = await open(setup);
  await authorize(host);
  const session = await host.sessions.create();
  const started = { setup, host, model: setup.model, session, sessionID: session.id };
  server.revoke();
  const calls = Array.from({ length: 50 }, (_, at) => ({ name: "notes_echo", input: { at } }));
  await callTools(started, ...calls);
  const states = (await readCalls(host, session.id)).map(({ state }) => state.status);
  expect(states).toEqual(Array.from({ length: 50 }, () => "completed"));
  expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("a user who refuses fails the attempt, and can try again", async () => {
  const setup = await setUp();
  const host = await open(setup);
  const { data: attempt } = await connect(host);
  await fetch(server.consent(attempt.url, "refuse"));
  const read = () => host.integrations.attemptStatus({ attemptID: attempt.attemptID });
  let { data: state } = await read();
  while (state.status === "pending") ({ data: state } = await read());
  expect(state).toMatchObject({ status: "failed", message: expect.stringContaining("access_denied") });
  await authorize(host);
});

test("the user enters the code if the redirect address is on another machine", async () => {
  const setup = await setUp();
  const oauth = { redirectUri: "https://app.example/callback" };
  const host = await setup.open({ mcp: { notes: { type: "remote", url: server.url, oauth } } });
  const { data: attempt } = await connect(host);
  expect(attempt.mode).toBe("code");
  const code = new URL(server.consent(attempt.url)).searchParams.get("code") ?? "";
  await host.integrations.attemptComplete({ attemptID: attempt.attemptID, code });
  const { data: integration } = await host.integrations.get({ integrationID: "mcp:notes" });
  const [connection] = integration?.connections ?? [];
  expect(connection).toMatchObject({ type: "credential" });
  if (connection?.type === "credential") await host.credentials.remove({ credentialID: connection.id });
  const { data: removed } = await host.integrations.get({ integrationID: "mcp:notes" });
  expect(removed?.connections).toEqual([]);
});

test("a server that registers no clients needs a configured one", async () => {
  server.registers = false;
  const setup = await setUp();
  const host = await open(setup);
  const { data: found } = await host.mcp.reconnect({ name: "notes" });
  expect(found.status).toMatchObject({ status: "needs_client_registration" });
  await host.close();
  const oauth = { clientId: "mine", callbackPort: await findPort() };
  const configured = await setup.open({ mcp: { notes: { type: "remote", url: server.url, oauth } } });
  await authorize(configured);
});

test("another address gets no token of the first one", async () => {
  const setup = await setUp();
  const first = await open(setup);
  await authorize(first);
  await first.close();
  const other = await AuthorizationServer.start();
  try {
    const second = await setup.open({ mcp: { notes: { type: "remote", url: other.url } } });
    const { data: found } = await second.mcp.reconnect({ name: "notes" });
    expect(found.status).toEqual({ status: "needs_auth" });
  } finally {
    await other.close();
  }
});

test("the stored tokens are in the database alone", async () => {
  const setup = await setUp();
  const host = await open(setup);
  await authorize(host);
  await host.close();
  const refresh = server.secrets.find((secret) => secret.startsWith("refresh-")) ?? "";
  expect(readFileSync(setup.database).includes(refresh)).toBe(true);
});
