import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { SessionError } from "../../index.js";
import { readHistory, readTranscript, readUntil, run, setUp, setUpSession, subscribe, types } from "./support";

/** Prompts a session that cannot run. Returns the error that connected clients receive. */
async function readError(started: Awaited<ReturnType<typeof setUpSession>>, id = "msg_pending") {
  const { host, sessionID } = started;
  const live = await subscribe(host);
  await run(host, sessionID, "Hi", { id });
  const event = (await readUntil(live, "session.error")).at(-1) as SessionError;
  await live.return?.();
  const { error } = event.data;
  expect([event.data.sessionID, error.name, typeof error.data.message]).toEqual([sessionID, "UnknownError", "string"]);
  // The prompt stays pending.
  expect(types(await readHistory(host, sessionID))).not.toContain("prompted");
  await expect(host.sessions.message({ sessionID, messageID: id })).rejects.toMatchObject({
    _tag: "MessageNotFoundError",
  });
  return error;
}

test("keeps the prompt pending and reports the error if the model is unknown, and runs it when the model exists", async () => {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  for (const unknown of [
    { providerID: "mock", id: "m2" },
    { providerID: "unknown", id: "m1" },
  ]) {
    await host.sessions.switchModel({ sessionID, model: unknown });
    const { data, cause } = await readError(started, `msg_${unknown.id}`);
    expect(data.message).toContain(unknown.providerID);
    expect(cause).toMatchObject({ kind: "invalid-request" });
  }
  expect(model.requests).toHaveLength(0);
  await host.sessions.switchModel({ sessionID, model: { providerID: "mock", id: "m1" } });
  model.reply({ text: "Hello." });
  await run(host, sessionID, "Now", { id: "msg_now" });
  const lines = (await readTranscript(host, sessionID)).filter((line) => !line.startsWith("model-switched"));
  expect(lines).toEqual(["user: Hi", "user: Hi", "user: Now", "assistant: Hello."]);
});

test("keeps the prompt pending if no model is configured", async () => {
  const error = await readError(await setUpSession({ config: {} }));
  expect(error.data.message).toMatch(/model/i);
});

test("treats an unknown variant as an unknown model", async () => {
  const started = await setUpSession();
  const { host, sessionID } = started;
  await host.sessions.switchModel({ sessionID, model: { providerID: "mock", id: "m1", variant: "huge" } });
  expect((await readError(started)).data.message).toContain("huge");
});

test("names a provider with an unsupported protocol", async () => {
  const started = await setUpSession({
    config: { model: "odd/m1", provider: { odd: { npm: "no-such-package", models: { m1: {} } } } },
  });
  expect((await readError(started)).data.message).toMatch(/odd|no-such-package/);
});

describe("a broken configuration file", () => {
  const broken = [
    ["is not JSON", "{ model: "],
    ["is not an object", "[]"],
    ["has a key of the wrong type", '{ "provider": 5 }'],
    ["is not text", Buffer.of(0xff, 0xfe, 0x00)],
  ] as const;

  test.each(broken)("that %s does not stop a session from working", async (_, content) => {
    const setup = await setUp();
    setup.write("opencode.json", content);
    const host = await setup.open();
    const { id } = await host.sessions.create();
    setup.model.reply({ text: "Hello." });
    await run(host, id, "Hi");
    await expect(readTranscript(host, id)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  });

  test.each(broken)("that %s is named in the failure for a missing model", async (_, content) => {
    const setup = await setUp();
    setup.write("opencode.json", content);
    const host = await setup.open({ config: {} });
    const session = await host.sessions.create();
    const error = await readError({ setup, model: setup.model, host, session, sessionID: session.id });
    expect(error.data.message).toContain(path.join(setup.directory, "opencode.json"));
  });

  test("of the user is treated like one of the project", async () => {
    const setup = await setUp();
    const configDirectory = path.join(setup.root, "config");
    mkdirSync(configDirectory);
    writeFileSync(path.join(configDirectory, "opencode.json"), "nonsense");
    const host = await setup.open({ configDirectory });
    const { id } = await host.sessions.create();
    await run(host, id, "Hi");
    expect((await readTranscript(host, id))[0]).toBe("user: Hi");
  });
});

test("uses the model of the configuration file", async () => {
  const setup = await setUp();
  setup.write("opencode.json", JSON.stringify(setup.model.config()));
  const host = await setup.open({ config: {}, trust: true });
  const { id } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, id, "Hi");
  await expect(readTranscript(host, id)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
});

test("a session with a removed directory can be read, and runs when the directory exists again", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const directory = path.join(setup.root, "away");
  const session = await host.sessions.create({ location: { directory } });
  const started = { setup, model: setup.model, host, session, sessionID: session.id };
  expect((await readError(started)).data.message).toContain(directory);
  await expect(host.sessions.get({ sessionID: session.id })).resolves.toEqual(session);
  mkdirSync(directory);
  setup.model.reply({ text: "Hello." });
  await run(host, session.id, "Hi", { id: "msg_pending" });
  await expect(readTranscript(host, session.id)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  rmSync(directory, { recursive: true });
});
