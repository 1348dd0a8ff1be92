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
