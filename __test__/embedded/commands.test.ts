import { setUp, setUpSession } from "./support";
import type { Setup } from "./support";

function configured(setup: Setup, commands: Record<string, object>, more: object = {}) {
  return { config: { ...setup.model.config(), command: commands, ...more } };
}

/** The text of the last message of the last request. */
function lastText(setup: Setup): string {
  const { content } = setup.model.requests.at(-1)!.body.messages.at(-1)!;
  return typeof content === "string" ? content : JSON.stringify(content);
}

test("runs a command with arguments, mentions and the output of a shell command", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  setup.model.reply({ text: "Checked." });
  const check = { template: "Check $1 with @a.txt.\n!`printf '%s' \"$2\"`" };
  const host = await setup.open(configured(setup, { check }));
  const { id: sessionID } = await host.sessions.create();
  const { data: commands } = await host.commands.list();
  expect(commands.map(({ name }) => name)).toEqual(["init", "review", "check"]);
  const receipt = await host.commands.run({ sessionID, command: "check", arguments: "'the $1 name' $(touch bad) x" });
  expect(receipt.prompt).toMatchObject({
    text: "Check the $1 name with @a.txt.\n$(touch bad) x",
    command: { name: "check", arguments: "'the $1 name' $(touch bad) x" },
  });
  await host.sessions.wait({ sessionID });
  expect(lastText(setup)).toBe(receipt.prompt.text);
  expect(JSON.stringify(setup.model.requests[0]!.body.messages.at(-2))).toContain("alpha");
  const messages = await host.sessions.context({ sessionID });
  expect(messages.map(({ type }) => type)).toEqual(["synthetic", "user", "assistant"]);
});

test("asks for the permission of a shell command, and tells the model about a refusal", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "One." }, { text: "Two." });
  const log = { template: "Log: !`printf %s $1`" };
  const options = configured(setup, { log }, { permission: { bash: "ask" } });
  const host = await setup.open(options);
  const { id: sessionID } = await host.sessions.create();
  const asked: (readonly string[])[] = [];
  let reply: "once" | "reject" = "once";
  host.permissions.handle((request) => {
    asked.push([request.action, ...request.resources]);
    return reply;
  });
  const run = { sessionID, command: "log", arguments: "two" };
  expect((await host.commands.run(run)).prompt.text).toBe("Log: two");
  reply = "reject";
  const refused = await host.commands.run({ ...run, arguments: "'a b'" });
  expect(refused.prompt.text).toBe(`Log: [The command "printf %s 'a b'" was not run: the user declined it.]`);
  await host.sessions.wait({ sessionID });
  expect(asked).toEqual([
    ["bash", "printf %s two", "printf %s $1"],
    ["bash", "printf %s 'a b'", "printf %s $1"],
  ]);
});

test("fails with typed errors, and stores nothing", async () => {
  const { host, sessionID } = await setUpSession();
  const unknown = host.commands.run({ sessionID, command: "reveiw" });
  const failure = { _tag: "CommandNotFoundError", command: "reveiw", suggestion: "review" };
  await expect(unknown).rejects.toMatchObject(failure);
  for (const wrong of [
    { arguments: "\0" },
    { arguments: "x".repeat(100_000) },
    { agent: "none" },
    { model: { providerID: "none", id: "none" } },
  ]) {
    const failed = expect(host.commands.run({ sessionID, command: "init", ...wrong })).rejects;
    await failed.toMatchObject({ _tag: "InvalidRequestError", field: Object.keys(wrong)[0] });
  }
  expect(await host.sessions.context({ sessionID })).toEqual([]);
});

test("a retry returns the first receipt, and another command with its id is a conflict", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Counted." });
  const count = { template: "!`echo x >> log; wc -l < log | tr -d ' '`" };
  const host = await setup.open(configured(setup, { count }));
  const { id: sessionID } = await host.sessions.create();
  const run = { sessionID, command: "count", id: "msg_counting" };
  const receipt = await host.commands.run(run);
  await host.sessions.wait({ sessionID });
  expect(receipt.prompt.text).toBe("1");
  expect((await host.commands.run(run)).prompt).toEqual(receipt.prompt);
  const other = host.commands.run({ ...run, arguments: "again" });
  await expect(other).rejects.toMatchObject({ _tag: "ConflictError" });
  await host.sessions.wait({ sessionID });
  expect(setup.model.requests).toHaveLength(1);
});

test("an untrusted project has no commands that run programs", async () => {
  const setup = await setUp();
  const commands = { safe: { template: "Say $1" }, odd: { template: "!`touch bad`" } };
  setup.write("opencode.json", JSON.stringify({ command: commands }));
  setup.model.reply({ text: "Said." });
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create();
  const odd = host.commands.run({ sessionID, command: "odd" });
  await expect(odd).rejects.toMatchObject({ _tag: "CommandNotFoundError" });
  const { prompt } = await host.commands.run({ sessionID, command: "safe", arguments: "!`touch bad`" });
  expect(prompt.text).toBe("Say !`touch bad`");
  await host.sessions.wait({ sessionID });
});
