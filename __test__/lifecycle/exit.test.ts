import { readHistory, readTranscript, run, setUp, types, UNSCRIPTED, type Setup } from "../embedded/support";
import { Child } from "./child";

const live = (setup: Setup, life: string, database = setup.database) =>
  new Child("life", { life, options: setup.options({ database }) });

/** Runs another process from start to end, which takes as long as any other process needs to end. */
async function liveAnother(setup: Setup) {
  const other = live(setup, "closed", ":memory:");
  await expect(other.exited).resolves.toBe(0);
}

test("a process ends by itself when its host is closed", async () => {
  const setup = await setUp();
  const child = live(setup, "closed");
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines).toEqual([{ line: "done" }]);
  expect(child.errors).toBe("");
});

test.each(["idle", "unread", "attending"])("an open host that is %s does not keep its process alive", async (life) => {
  const setup = await setUp();
  const child = live(setup, life);
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines).toEqual([{ line: "done" }]);
  expect(child.errors).toBe("");
  // The database is not in use, and all data is stored.
  const host = await setup.open();
  await expect(readTranscript(host, "ses_life")).resolves.toEqual(["user: Hi", `assistant: ${UNSCRIPTED}`]);
});

test("a session with an open request keeps the process alive until its handler has answered and the session is idle", async () => {
  const setup = await setUp();
  setup.write(".env", "SECRET=1");
  const read = { name: "read", input: { path: ".env" } };
  setup.model.reply({ text: "Hello." }, { tools: [read] }, { text: "Read." });
  const child = live(setup, "answering");
  await expect(child.exited).resolves.toBe(0);
  expect(child.errors).toBe("");
  const host = await setup.open();
  expect((await readTranscript(host, "ses_life")).slice(2)).toEqual([
    "user: Once more",
    "assistant: [read completed]",
    "assistant: Read.",
  ]);
});

test("a session that calls a tool of the program keeps the process alive until it is idle", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { tools: [{ name: "collect", input: {} }] }, { text: "Done." });
  const child = live(setup, "calling");
  await expect(child.exited).resolves.toBe(0);
  expect(child.errors).toBe("");
  const host = await setup.open();
  expect((await readTranscript(host, "ses_life")).slice(2)).toEqual([
    "user: Once more",
    "assistant: [collect completed]",
    "assistant: Done.",
  ]);
});

test("a pending read keeps the process alive until it is aborted", async () => {
  const setup = await setUp();
  const child = live(setup, "reading");
  await child.printed("reading");
  await liveAnother(setup);
  expect(child.isRunning).toBe(true);
  child.kill("SIGUSR2");
  await child.printed("aborted");
  await expect(child.exited).resolves.toBe(0);
});

test("a pending call keeps the process alive until it is answered", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { deltas: ["a", "b"], gate: "middle" });
  const child = live(setup, "waiting");
  await child.printed("waiting");
  await setup.model.reached("middle");
  await liveAnother(setup);
  expect(child.isRunning).toBe(true);
  setup.model.release("middle");
  await child.printed("settled");
  await expect(child.exited).resolves.toBe(0);
});

test.each([
  ["exiting", 7],
  ["failing", 1],
])("a process that ends %s during a turn leaves it as a crash does", async (life, code) => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { deltas: ["Once upon", " a time."], gate: "never" });
  const child = live(setup, life);
  await expect(child.exited).resolves.toBe(code);
  const host = await setup.open();
  const history = await readHistory(host, "ses_life");
  expect(types(history).slice(6)).toEqual(["prompt.admitted", "prompted", "step.started", "text.started"]);
  await expect(host.sessions.interrupted()).resolves.toMatchObject([{ sessionID: "ses_life", state: "step-open" }]);
  await run(host, "ses_life", "Go on");
  expect((await readTranscript(host, "ses_life")).at(-1)).toBe(`assistant: ${UNSCRIPTED}`);
});
