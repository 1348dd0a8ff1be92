import { readHistory, readTranscript, setUp, types, type Setup } from "../embedded/support";
import { Child } from "./child";

/** Runs a process whose main function ends during a turn, while the model waits at the gate. */
async function departInTheMiddle(setup: Setup, life: string, keepAlive?: boolean) {
  setup.model.reply({ text: "Hello." }, { deltas: ["Once upon", " a time."], gate: "middle" });
  const child = new Child("life", { life, options: setup.options({ keepAlive }) });
  await child.printed("done");
  await setup.model.reached("middle");
  return child;
}

/** Runs another process from start to end, which takes as long as any other process needs to end. */
async function liveAnother(setup: Setup) {
  const other = new Child("life", { life: "closed", options: setup.options({ database: ":memory:" }) });
  await expect(other.exited).resolves.toBe(0);
}

async function readLife(setup: Setup) {
  const host = await setup.open();
  return { transcript: await readTranscript(host, "ses_life"), history: await readHistory(host, "ses_life") };
}

test.each(["prompting", "fetching", "resuming", "redelivering", "terminating"])(
  "a process whose main function ends after %s stays until the session has settled",
  async (life) => {
    const setup = await setUp();
    const child = await departInTheMiddle(setup, life);
    await liveAnother(setup);
    expect(child.isRunning).toBe(true);
    setup.model.release("middle");
    await expect(child.exited).resolves.toBe(0);
    expect(child.errors).toBe("");
    const { transcript, history } = await readLife(setup);
    expect(transcript).toEqual(["user: Hi", "assistant: Hello.", "user: Once more", "assistant: Once upon a time."]);
    expect(history.at(-1)).toMatchObject({ type: "session.next.step.ended", data: { finish: "stop" } });
  },
);

test("a prompt that is queued behind a turn keeps the process alive", async () => {
  const setup = await setUp();
  const child = await departInTheMiddle(setup, "queueing");
  setup.model.reply({ text: "The end." });
  setup.model.release("middle");
  await expect(child.exited).resolves.toBe(0);
  const { transcript } = await readLife(setup);
  expect(transcript.slice(3)).toEqual(["assistant: Once upon a time.", "user: And again", "assistant: The end."]);
});

test("a prompt whose call is aborted is not admitted, or is answered", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { text: "Answered." });
  const child = new Child("life", { life: "aborting", options: setup.options() });
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines).toEqual([{ line: "aborted" }, { line: "done" }]);
  const { transcript, history } = await readLife(setup);
  const admitted = history.filter(({ type }) => type === "session.next.prompt.admitted");
  expect(transcript.slice(2)).toEqual(admitted.length === 1 ? [] : ["user: Once more", "assistant: Answered."]);
});

describe("without `keepAlive`", () => {
  test("a process ends at once, and acknowledged prompts are stored", async () => {
    const setup = await setUp();
    const options = setup.options({ keepAlive: false });
    setup.model.reply({ text: "Hello." }, { text: "Never heard.", gate: "never" });
    const child = new Child("life", { life: "prompting", options });
    await expect(child.exited).resolves.toBe(0);
    const { history } = await readLife(setup);
    expect(types(history).slice(6, 7)).toEqual(["prompt.admitted"]);
    // The turn may be at any point, but it neither ended nor failed.
    expect(["prompt.admitted", "prompted", "step.started", "text.started"]).toContain(types(history).at(-1));
  });

  test("a process that ends during a turn leaves it as a crash does", async () => {
    const setup = await setUp();
    const child = await departInTheMiddle(setup, "leaving", false);
    await expect(child.exited).resolves.toBe(0);
    const request = await setup.model.received(2);
    await request.closed;
    expect(request.aborted).toBe(true);
    const host = await setup.open();
    const history = await readHistory(host, "ses_life");
    expect(types(history).slice(6)).toEqual(["prompt.admitted", "prompted", "step.started", "text.started"]);
    await expect(host.sessions.interrupted()).resolves.toMatchObject([{ sessionID: "ses_life", state: "step-open" }]);
  });
});

test("a signal handler that closes the host interrupts the turn, and the process ends", async () => {
  const setup = await setUp();
  const child = await departInTheMiddle(setup, "terminating");
  child.kill("SIGTERM");
  await child.printed("closed");
  await expect(child.exited).resolves.toBe(0);
  const { history } = await readLife(setup);
  expect(history.at(-1)).toMatchObject({
    type: "session.next.step.failed",
    data: { error: { message: "Provider turn interrupted" } },
  });
});
