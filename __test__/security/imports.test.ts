import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { createClient } from "../../dist/client/index.js";
import type { OpenCodeClient, OpenCodeHost } from "../../index.js";
import { collect } from "../client/support";
import { readMessages, run, setUpSession } from "../embedded/support";

// An export or a document that a stranger wrote: it loosens no rule, starts no work, and chooses no place.

const ALLOW = [{ permission: "*", pattern: "*", action: "allow" }];

interface Line {
  seq: number;
  data: { info: Record<string, unknown> };
}

/** Changes the record of the creation in an export. */
function withRecord(lines: string[], change: object) {
  const created = JSON.parse(lines[1]!) as Line;
  Object.assign(created.data.info, change);
  return lines.with(1, JSON.stringify(created));
}

/** Appends a prompt that became a message and has no answer, and one that waits. */
function withPrompts(lines: string[], sessionID: string) {
  const more = (["admitted", "prompted", "waiting"] as const).map((step, index) => {
    const messageID = step === "waiting" ? "msg_waits" : "msg_stranger";
    const data = { timestamp: 9, sessionID, messageID, prompt: { text: "Run it" }, delivery: "steer" };
    const type = `session.next.${step === "prompted" ? "prompted" : "prompt.admitted"}.1`;
    return JSON.stringify({ id: `evt_stranger${index}`, type, seq: lines.length - 1 + index, data });
  });
  return [...lines, ...more];
}

/** A host with an export of a stranger, and another host whose user denies and asks. */
async function setUpImport() {
  const { setup, model, host, sessionID } = await setUpSession();
  model.reply({ text: "Hello." });
  await run(host, sessionID, "Hi");
  const lines = await collect(host.sessions.export({ sessionID }));
  const options = {
    database: path.join(setup.root, "other.db"),
    permissions: { unanswered: "deny" as const },
    // The rule of the user, which rules of a session may loosen.
    env: { OPENCODE_PERMISSION: '{"bash":"ask"}' },
  };
  return { setup, model, sessionID, lines, options, open: (more = {}) => setup.open({ ...options, ...more }) };
}

/** Lets the model of the session run a command. Returns the state of the call. */
async function command(client: OpenCodeClient, model: { reply(...replies: object[]): void }, sessionID: string) {
  model.reply({ tools: [{ name: "bash", input: { command: "echo 1 > ran", description: "d" } }] }, { text: "Done." });
  await run(client, sessionID, "Go on");
  return JSON.stringify((await readMessages(client, sessionID)).slice(-2));
}

const clients: [string, (host: OpenCodeHost) => OpenCodeClient][] = [
  ["the host", (host) => host],
  ["a network client", (host) => createClient({ baseUrl: "http://host", fetch: host.fetch })],
];

test.each(clients)(
  "rules of an import only restrict, and a caller makes them its own, with %s",
  async (_, clientOf) => {
    const { setup, model, sessionID, lines, open } = await setUpImport();
    const host = await open();
    const client = clientOf(host);
    const { session } = await client.sessions.import(withRecord(lines, { permission: ALLOW }));
    const rules = [{ action: "*", resource: "*", effect: "allow" }];
    expect(session).toMatchObject({ permission: rules, imported: { rules: 1, unconfirmed: [] } });
    expect(await command(client, model, sessionID)).toContain("not allowed");
    const fork = await client.sessions.fork({ sessionID });
    expect(await command(client, model, fork.id)).toContain("not allowed");
    expect(existsSync(path.join(setup.directory, "ran"))).toBe(false);
    await host.close();
    const again = await open();
    expect(await command(again, model, sessionID)).toContain("not allowed");
    expect(existsSync(path.join(setup.directory, "ran"))).toBe(false);
    const updated = await again.sessions.update({ sessionID, permission: session.permission ?? [] });
    expect(updated.imported).toMatchObject({ rules: 0 });
    expect(await command(again, model, sessionID)).not.toContain("not allowed");
    expect(existsSync(path.join(setup.directory, "ran"))).toBe(true);
  },
);

test.each(clients)("the prompts of an import never run by themselves, with %s", async (_, clientOf) => {
  const { model, sessionID, lines, open } = await setUpImport();
  const host = await open();
  await clientOf(host).sessions.import(withPrompts(lines, sessionID));
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
  await host.close();
  const requests = model.requests.length;
  const again = await open({ recovery: "resume" });
  await expect(again.sessions.interrupted()).resolves.toEqual([]);
  await again.sessions.wait({ sessionID });
  await expect(again.sessions.resume({ sessionID })).rejects.toMatchObject({
    _tag: "InvalidRequestError",
    field: "sessionID",
    message: expect.stringContaining("import"),
  });
  expect(model.requests).toHaveLength(requests);
  model.reply({ text: "Yours." });
  await run(again, sessionID, "Mine");
  expect(model.requests).toHaveLength(requests + 1);
});

test.each(clients)("an import chooses neither directory nor agent nor model, with %s", async (_, clientOf) => {
  const { setup, model, sessionID, lines, open } = await setUpImport();
  const client = clientOf(await open());
  const other = path.join(setup.root, "elsewhere");
  mkdirSync(other);
  const chosen = { directory: other, agent: "plan", model: { providerID: "mock", id: "m2" } };
  const { session } = await client.sessions.import(withRecord(lines, chosen));
  expect(session).toMatchObject({
    location: { directory: other },
    agent: "plan",
    imported: { rules: 0, unconfirmed: ["directory", "agent", "model"] },
  });
  const requests = model.requests.length;
  await run(client, sessionID, "Go on");
  await expect(client.sessions.compact({ sessionID })).rejects.toMatchObject({
    message: expect.stringContaining("directory"),
  });
  expect(model.requests).toHaveLength(requests);
  const moved = await client.sessions.import(withRecord(lines, chosen), {
    directory: setup.directory,
    agent: "build",
    model: { providerID: "mock", id: "m1" },
  });
  expect(moved.session).toMatchObject({ location: { directory: setup.directory }, imported: { unconfirmed: [] } });
  model.reply({ text: "Here." });
  await run(client, sessionID, "And now?");
  expect(model.requests).toHaveLength(requests + 1);
});

test.each(clients)("a document of another version is an import, too, with %s", async (_, clientOf) => {
  const { setup, model, open } = await setUpImport();
  const client = clientOf(await open());
  const sessionID = "ses_5ff0aa0000ffeOldSession0001";
  const info = {
    id: sessionID,
    directory: setup.root,
    title: "Old",
    time: { created: 1, updated: 1 },
    permission: ALLOW,
  };
  const created = { created: 2 };
  const prompt = { id: "msg_1", sessionID, role: "user", time: created };
  const parts = [{ id: "prt_1", messageID: "msg_1", sessionID, type: "text", text: "Run it" }];
  const document = { info, messages: [{ info: prompt, parts }] };
  const { session } = await client.sessions.importDocument(document);
  expect(session.imported).toEqual({ rules: 1, unconfirmed: ["directory"] });
  await expect(client.sessions.interrupted()).resolves.toEqual([]);
  const confirmed = await client.sessions.importDocument({ ...document, directory: setup.directory });
  expect(confirmed.session).toMatchObject({ location: { directory: setup.directory }, imported: { unconfirmed: [] } });
  expect(await command(client, model, sessionID)).toContain("not allowed");
  expect(existsSync(path.join(setup.directory, "ran"))).toBe(false);
});
