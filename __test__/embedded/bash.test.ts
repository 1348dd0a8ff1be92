import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { Alive, HOLD, LIMIT_WITHOUT_GRACE_MS, readChildren } from "./processes";
import { readMessages, readTranscript, run, setUpSession } from "./support";

const bash = (command: string, id = "call_a", more = {}) => ({ name: "bash", input: { command, ...more }, id });

/** Processes that ignore SIGTERM: the shell, and one in the background. */
const STUBBORN = `${HOLD} trap '' TERM; (echo a >&3; sleep 1000; sleep 1000) & echo b >&3; sleep 1000; sleep 1000`;

async function readTools(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.flatMap((part) => (part.type === "tool" ? [part] : []));
}

/** Describes a process such as `123 (sh) S` by id, program and state, so that a failure names the program. */
function describeProcess(id: string) {
  try {
    return readFileSync(`/proc/${id}/stat`, "utf8").split(" ").slice(0, 3).join(" ");
  } catch {
    return `${id} has ended meanwhile`;
  }
}

/** A session whose model has started a command that does not end by itself. */
async function runningCommand(...more: ReturnType<typeof bash>[]) {
  const started = await setUpSession();
  const alive = new Alive(started.setup.directory);
  started.model.reply({ tools: [bash(STUBBORN), ...more] }, { text: "Done." });
  await started.host.sessions.prompt({ sessionID: started.sessionID, prompt: { text: "Run it" } });
  await alive.wrote(2);
  return { ...started, alive };
}

test("returns the output and the exit code of a command to the model", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("a.txt", "A\n");
  const tools = [
    bash("cat a.txt; pwd", "c1"),
    bash("echo wrong >&2; exit 3", "c2"),
    bash("printf x; sleep 1000", "c3", { timeout: 2_000 }),
  ];
  model.reply({ tools }, { text: "Done." });
  await run(host, sessionID, "Run them");
  const { body } = await model.received(2);
  const results: { role: string; content: string }[] = body.messages;
  expect(results.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
    `A\n${setup.directory}\n\nCommand exited with code 0.`,
    "wrong\n\nCommand exited with code 3.",
    "x\nCommand exceeded timeout of 2000 ms. Retry with a larger timeout if the command is expected to take longer.\n" +
      "Command timed out before completion.",
  ]);
  const states = (await readTools(host, sessionID)).map(({ state }) => state);
  expect(states.map((state) => state.status === "completed" && state.structured)).toEqual([
    { exit: 0, truncated: false },
    { exit: 3, truncated: false },
    { truncated: false, timeout: true },
  ]);
});

async function outputOf(options: OpenCodeOptions, command: string) {
  const { setup, host, model, sessionID } = await setUpSession(options);
  model.reply({ tools: [bash(command)] }, { text: "Done." });
  await run(host, sessionID, "Run it");
  const [tool] = await readTools(host, sessionID);
  if (tool?.state.status !== "completed") throw new Error(JSON.stringify(tool));
  return { directory: setup.directory, content: tool.state.content };
}

test("gives a command the variables of the options, and none of the process", async () => {
  process.env.ONLY_OF_THE_PROCESS = "1";
  const { content } = await outputOf({ env: { GIVEN: "yes" } }, 'echo "$GIVEN $AGENT $OPENCODE $ONLY_OF_THE_PROCESS"');
  delete process.env.ONLY_OF_THE_PROCESS;
  expect(content[0]).toEqual({ type: "text", text: "yes 1 1 \n" });
});

test("a rule denies a command, which does not run", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write("opencode.json", JSON.stringify({ permission: { bash: { "*": "allow", "touch *": "deny" } } }));
  model.reply({ tools: [bash("touch made", "c1"), bash("echo fine", "c2")] }, { text: "Done." });
  await run(host, sessionID, "Run it");
  expect((await readTools(host, sessionID)).map(({ state }) => state)).toMatchObject([
    {
      status: "error",
      error: {
        message: expect.stringMatching(/^Unable to execute command: touch made: it is not allowed/),
        cause: { kind: "permission" },
      },
    },
    { status: "completed", content: [{ text: "fine\n" }, { text: "Command exited with code 0." }] },
  ]);
  expect(existsSync(path.join(setup.directory, "made"))).toBe(false);
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Run it",
    "assistant: [bash error][bash completed]",
    "assistant: Done.",
  ]);
});

test("an interruption stops the running processes without delay, and keeps the result of a finished command", async () => {
  const { host, sessionID, alive } = await runningCommand(bash("echo fine", "call_b"));
  for await (const { type } of host.sessions.events({ sessionID })) if (type === "session.next.tool.success") break;
  const since = Date.now();
  await host.sessions.interrupt({ sessionID });
  await alive.ended();
  expect(Date.now() - since).toBeLessThan(LIMIT_WITHOUT_GRACE_MS);
  expect((await readTools(host, sessionID)).map(({ id, state }) => ({ id, state }))).toMatchObject([
    { id: "call_a", state: { status: "error", error: { message: "Tool execution interrupted" } } },
    { id: "call_b", state: { status: "completed", structured: { exit: 0, truncated: false } } },
  ]);
  await run(host, sessionID, "Go on");
  expect((await readTranscript(host, sessionID)).slice(-2)).toEqual(["user: Go on", "assistant: Done."]);
});

test("closing the host ends all child processes", async () => {
  // Other test files leave child processes running, such as the service of esbuild.
  const before = readChildren();
  const { setup, host, sessionID, alive } = await runningCommand();
  const since = Date.now();
  await host.close();
  await alive.ended();
  expect(Date.now() - since).toBeLessThan(LIMIT_WITHOUT_GRACE_MS);
  const left = readChildren().filter((id) => !before.includes(id));
  expect(left.map(describeProcess)).toEqual([]);
  const again = await setup.open();
  expect((await readTools(again, sessionID)).map(({ state }) => state)).toMatchObject([
    { status: "error", error: { message: "Tool execution interrupted" } },
  ]);
});

test("an interruption does not stop commands of other sessions", async () => {
  const { setup, host, model, sessionID, alive } = await runningCommand();
  const other = await host.sessions.create();
  await run(host, other.id, "Hello");
  const begun = new Alive(setup.directory, "begun");
  model.reply({ tools: [bash("exec 4>begun; echo a >&4; until [ -e go ]; do sleep 0.01; done; echo fine")] });
  const running = run(host, other.id, "Run it");
  await begun.wrote(1);
  await host.sessions.interrupt({ sessionID });
  await alive.ended();
  setup.write("go", "");
  await Promise.all([running, begun.ended()]);
  expect((await readTools(host, other.id)).map(({ state }) => state)).toMatchObject([
    { status: "completed", content: [{ text: "fine\n" }, { text: "Command exited with code 0." }] },
  ]);
});
