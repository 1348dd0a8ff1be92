import { createClient } from "../../index.js";
import { readTranscript, setUp, UNSCRIPTED, type Setup } from "../embedded/support";
import { Child } from "./child";

/** A program that listens and whose main function has ended, and a client of it. */
async function listen(setup: Setup, life: string, keepAlive?: boolean) {
  const child = new Child("life", { life, options: setup.options({ keepAlive }) });
  const { url } = await child.printed("listening");
  return { child, client: createClient({ baseUrl: url }) };
}

/** Runs another process from start to end, which takes as long as any other process needs to end. */
async function liveAnother(setup: Setup) {
  const other = new Child("life", { life: "closed", options: setup.options({ database: ":memory:" }) });
  await expect(other.exited).resolves.toBe(0);
}

test("a listener keeps its process alive until it is closed, and then until the work of its clients ends", async () => {
  const setup = await setUp();
  const { child, client } = await listen(setup, "listening");
  await child.printed("done");
  await liveAnother(setup);
  setup.model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  await client.sessions.prompt({ sessionID: "ses_life", prompt: { text: "Once more" } });
  await setup.model.reached("middle");
  child.kill("SIGUSR2");
  await child.printed("closed");
  await liveAnother(setup);
  expect(child.isRunning).toBe(true);
  setup.model.release("middle");
  await expect(child.exited).resolves.toBe(0);
  expect(child.errors).toBe("");
  const host = await setup.open();
  await expect(readTranscript(host, "ses_life")).resolves.toEqual([
    "user: Hi",
    `assistant: ${UNSCRIPTED}`,
    "user: Once more",
    "assistant: Once upon a time.",
  ]);
});

test("without `keepAlive` a process with a listener ends like any other", async () => {
  const setup = await setUp();
  const { child } = await listen(setup, "listening", false);
  await expect(child.exited).resolves.toBe(0);
  expect(child.lines.map(({ line }) => line)).toEqual(["listening", "done"]);
  expect(child.errors).toBe("");
});

test("an unreferenced listener keeps working", async () => {
  const setup = await setUp();
  const { child, client } = await listen(setup, "forgetting", false);
  await child.printed("collected");
  await expect(client.health.get()).resolves.toEqual({ healthy: true });
  child.kill("SIGTERM");
  await expect(child.exited).resolves.toBe("SIGTERM");
});
