import { readHistory, readTranscript, setUp, types, type Setup } from "../embedded/support";
import { Child } from "./child";

/** A process whose main function ends in the middle of a turn, at the gate. */
async function departInTheMiddle(setup: Setup, life: string, keepAlive?: boolean) {
  setup.model.reply({ text: "Hello." }, { deltas: ["Once upon", " a time."], gate: "middle" });
  const child = new Child("life", { life, options: setup.options({ keepAlive }) });
  await child.said("done");
  await setup.model.reached("middle");
  return child;
}

/** A whole life of another process, and with it time for any other that could end. */
async function liveAnother(setup: Setup) {
  const other = new Child("life", { life: "closed", options: setup.options({ database: ":memory:" }) });
  await expect(other.exited).resolves.toBe(0);
}

async function readLife(setup: Setup) {
  const host = await setup.open();
  return { transcript: await readTranscript(host, "ses_life"), history: await readHistory(host, "ses_life") };
}

test.each(["prompting", "fetching", "resuming", "redelivering", "terminating"])(
  "a process that ends its program after %s stays until the session has settled",
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

test("what waits behind a turn keeps the process alive, too", async () => {
  const setup = await setUp();
  const child = await departInTheMiddle(setup, "queueing");
  setup.model.reply({ text: "The end." });
  setup.model.release("middle");
  await expect(child.exited).resolves.toBe(0);
  const { transcript } = await readLife(setup);
  expect(transcript.slice(3)).toEqual(["assistant: Once upon a time.", "user: And again", "assistant: The end."]);
});

test("a prompt whose call was aborted is not admitted, or answered", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Hello." }, { text: "Not for nothing." });
  const child = new Child("life", { life: "aborting", options: setup.options() });
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines).toEqual([{ line: "aborted" }, { line: "done" }]);
  const { transcript, history } = await readLife(setup);
  const admitted = history.filter(({ type }) => type === "session.next.prompt.admitted");
  expect(transcript.slice(2)).toEqual(admitted.length === 1 ? [] : ["user: Once more", "assistant: Not for nothing."]);
});

describe("without `keepAlive`", () => {
  test("a process ends at once, and what was acknowledged is there", async () => {
    const setup = await setUp();
    const options = setup.options({ keepAlive: false });
    setup.model.reply({ text: "Hello." }, { text: "Never heard.", gate: "never" });
    const child = new Child("life", { life: "prompting", options });
    await expect(child.exited).resolves.toBe(0);
    const { history } = await readLife(setup);
    expect(types(history).slice(6, 7)).toEqual(["prompt.admitted"]);
    // However far the turn got, it neither ended nor failed.
    expect(["prompt.admitted", "prompted", "step.started", "text.started"]).toContain(types(history).at(-1));
  });

  test("a process ends in the middle of a turn, which is left as by a crash", async () => {
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

test("a signal that closes the host interrupts the turn, and the process ends", async () => {
  const setup = await setUp();
  const child = await departInTheMiddle(setup, "terminating");
  child.kill("SIGTERM");
  await child.said("closed");
  await expect(child.exited).resolves.toBe(0);
  const { history } = await readLife(setup);
  expect(history.at(-1)).toMatchObject({
    type: "session.next.step.failed",
    data: { error: { message: "Provider turn interrupted" } },
  });
});
