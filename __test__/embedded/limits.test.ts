import { readCalls } from "../program/support";
import { readTranscript, setUpSession } from "./support";

test("one boundary promotes at most the batch of steers, and the next boundary the rest", async () => {
  const { host, model, sessionID } = await setUpSession({ limits: { steerBatch: 2 } });
  model.reply({ text: "Two." }, { text: "Three." });
  for (const text of ["One", "Two"]) await host.sessions.prompt({ sessionID, prompt: { text }, resume: false });
  await host.sessions.prompt({ sessionID, prompt: { text: "Three" } });
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: One",
    "user: Two",
    "assistant: Two.",
    "user: Three",
    "assistant: Three.",
  ]);
});

test("a call beyond the limit of a turn fails with the reason, and the others run, a few at once", async () => {
  const { host, model, sessionID } = await setUpSession({ limits: { toolCallsPerTurn: 6, toolCallsAtOnce: 2 } });
  let [running, most, ran] = [0, 0, 0];
  host.tools.register({
    name: "work",
    description: "Works",
    input: { type: "object" },
    async execute() {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      ran += 1;
      return "done";
    },
  });
  const tools = Array.from({ length: 8 }, (_, n) => ({ name: "work", input: { n } }));
  model.reply({ tools }, { text: "Well." });
  const { result } = host.sessions.run({ sessionID, prompt: "Go" });
  await expect(result).resolves.toMatchObject({ outcome: "completed", text: "Well." });
  const calls = await readCalls(host, sessionID);
  expect(calls.map(({ state }) => state.status)).toEqual([...Array(6).fill("completed"), "error", "error"]);
  expect(calls.at(-1)?.state).toMatchObject({
    error: { message: expect.stringContaining("at most 6 tool calls of one answer"), cause: { kind: "step-limit" } },
  });
  expect({ most, ran }).toEqual({ most: 2, ran: 6 });
});
