// The functions of a host: turns with tools, functions of the program, commands, terminals, closing.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ClientError, createClient, isDatabaseInUseError, type OpenCodeHost } from "opencode-embedded";
import { type Check, converse, directory, open, readToolStates, readUntil } from "./support.ts";

/** The model answers in the order in which these checks prompt. */
export const checks: Check[] = [
  ["a turn with a call is streamed and stored", turnWithCall],
  ["functions of the program answer requests", handlers],
  ["a failing function emits a warning and leaves the request to clients", failingHandler],
  ["a command is ended with its turn", interruptedCommand],
  ["a terminal gets its variables, and reports the exit code of its program", terminal],
  ["a host that is used with `await using` is closed", disposal],
  ["prompts are admitted in the order of the calls", order],
  ["text is returned unchanged", texts],
  ["fetch of the host answers as a server does", hostFetch],
];

const TURN = [
  "server.connected",
  "session.created",
  "session.next.prompt.admitted",
  "session.status",
  "session.next.prompted",
  "session.next.step.started",
  "session.next.tool.input.started",
  "session.next.tool.input.delta",
  "session.next.tool.input.delta",
  "session.next.tool.input.ended",
  "session.next.tool.called",
  "session.next.tool.success",
  "session.next.step.ended",
  "session.next.step.started",
  "session.next.text.started",
  "session.next.text.delta",
  "session.next.text.delta",
  "session.next.text.ended",
  "session.next.step.ended",
];

async function turnWithCall() {
  await using host = await open();
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  const connected = await readUntil(live, "server.connected");
  const sessionID = await converse(host, "Say three");
  const first = await readUntil(live, "session.next.step.ended");
  const second = await readUntil(live, "session.next.step.ended");
  assert.deepEqual(
    [...connected, ...first, ...second].map(({ type }) => type),
    TURN,
  );
  const [state] = await readToolStates(host, sessionID);
  assert.ok(state?.status === "completed");
  assert.deepEqual(
    state.content.map((part) => (part.type === "text" ? part.text : part)),
    ["3\n", "Command exited with code 0."],
  );
}

async function handlers() {
  await using host = await open();
  writeFileSync(path.join(directory, ".env"), "SECRET=1");
  const asked: string[] = [];
  const registered = host.permissions.handle(async ({ action, resources }) => {
    asked.push(`${action} ${resources.join()}`);
    return { reply: "reject", message: "it is a secret" };
  });
  const refused = await converse(host, "Read it");
  registered.dispose();
  host.permissions.handle(() => "once");
  const allowed = await converse(host, "Read it all the same");
  const states = [...(await readToolStates(host, refused)), ...(await readToolStates(host, allowed))];
  assert.deepEqual(asked, ["read .env"]);
  assert.deepEqual(
    states.map(({ status }) => status),
    ["error", "completed"],
  );
}

async function failingHandler() {
  await using host = await open();
  const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
  host.permissions.handle(() => {
    throw new Error("no idea");
  });
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  const conversation = converse(host, "Read it");
  await readUntil(live, "permission.v2.asked");
  const { name, message } = await warned;
  const { data: requests } = await host.permissions.listRequests();
  assert.equal(requests.length, 1);
  for (const { sessionID, id: requestID } of requests) {
    assert.equal(name, "OpenCodeWarning");
    assert.equal(message, `A handler of permissions failed and leaves ${requestID} unanswered: Error: no idea`);
    await host.permissions.reply({ sessionID, requestID, reply: "once" });
  }
  assert.equal((await readToolStates(host, await conversation))[0]?.status, "completed");
}

async function interruptedCommand() {
  await using host = await open();
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  const { id: sessionID } = await host.sessions.create();
  await host.sessions.prompt({ sessionID, prompt: { text: "Wait" } });
  await readUntil(live, "session.next.tool.called");
  await host.sessions.interrupt({ sessionID });
  assert.equal((await readToolStates(host, sessionID))[0]?.status, "error");
  assert.deepEqual(await host.sessions.active(), {});
}

async function terminal() {
  await using host = await open();
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  host.ptys.environment(async ({ cwd }) => ({ GIVEN: cwd }));
  const ifGiven = `test "$GIVEN" = "${directory}" && exit 3`;
  const { data: created } = await host.ptys.create({ command: "/bin/sh", args: ["-c", ifGiven] });
  const exited = (await readUntil(live, "pty.exited")).at(-1);
  assert.ok(exited?.type === "pty.exited");
  assert.deepEqual(exited.data, { id: created.id, exitCode: 3 });
  const { data: long } = await host.ptys.create({ command: "/bin/sh", args: ["-c", "sleep 600"] });
  await host.ptys.remove({ ptyID: long.id });
  await assert.rejects(host.ptys.get({ ptyID: long.id }), { _tag: "PtyNotFoundError", ptyID: long.id });
}

async function disposal() {
  const database = path.resolve("disposal.db");
  let left: OpenCodeHost;
  {
    await using host = await open({ database });
    await using listener = await host.listen();
    left = host;
    assert.deepEqual(await createClient({ baseUrl: listener.clientUrl }).health.get(), { healthy: true });
    const second = await open({ database }).catch((error: unknown) => error);
    assert.ok(isDatabaseInUseError(second));
  }
  await assert.rejects(left.health.get(), ClientError);
  await using again = await open({ database });
  assert.deepEqual(await again.health.get(), { healthy: true });
  rmSync(database);
}

async function order() {
  await using host = await open();
  const { id: sessionID } = await host.sessions.create();
  const given = Array.from({ length: 50 }, (_, number) => `Prompt ${number}`);
  const calls = given.map((text) => host.sessions.prompt({ sessionID, prompt: { text }, resume: false }));
  await Promise.all(calls);
  const { data: events } = await host.sessions.history({ sessionID, limit: 100 });
  const admitted = events.flatMap((event) =>
    event.type === "session.next.prompt.admitted" ? [event.data.prompt.text] : [],
  );
  assert.deepEqual(admitted, given);
}

async function texts() {
  await using host = await open();
  const { id: sessionID } = await host.sessions.create();
  const given = `"\\ \u0000 \u2028 é 漢字 👩‍👩‍👧 ${"x".repeat(200_000)}`;
  await host.sessions.prompt({ sessionID, prompt: { text: given }, resume: false });
  await host.sessions.prompt({ sessionID, prompt: { text: "cut \ud83d" }, resume: false });
  const { data: events } = await host.sessions.history({ sessionID, limit: 100 });
  const kept = events.flatMap((event) =>
    event.type === "session.next.prompt.admitted" ? [event.data.prompt.text] : [],
  );
  assert.deepEqual(kept, [given, "cut \ufffd"]);
}

async function hostFetch() {
  await using host = await open();
  const url = "http://opencode.local/api/session";
  const headers = { "content-type": "application/json" };
  const created = await host.fetch(url, { method: "POST", headers, body: JSON.stringify({ id: "ses_fetched" }) });
  assert.equal(created.status, 200);
  assert.equal((await host.fetch(new Request(`${url}/ses_none`))).status, 404);
  const { body } = await host.fetch("http://opencode.local/api/event");
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  assert.match(new TextDecoder().decode(value), /"type":"server\.connected"/);
  await reader?.cancel();
  await writeAndRead(host);
}

/** Bytes that are not text, in memory and through `fetch`. */
async function writeAndRead(host: OpenCodeHost) {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  writeFileSync(path.join(directory, "bytes.bin"), bytes);
  assert.deepEqual(await host.files.read({ path: "bytes.bin" }), bytes);
  const answer = await host.fetch("http://opencode.local/api/fs/read/bytes.bin");
  assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), bytes);
}
