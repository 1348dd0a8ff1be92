import { readHistory, setUpSession } from "../embedded/support";
import { runProgram } from "./programs";
import { createSdk, transports } from "./support";

test.each(transports)("only a listener refuses more than 64 MiB, %s", async (way, open) => {
  const { setup, host, sessionID } = await setUpSession();
  const v2 = createSdk(await open(host), setup.directory);
  const prompt = { text: "x".repeat(65 * 1024 * 1024) };
  const { error, response } = await v2.session.prompt({ sessionID, prompt, resume: false });
  // In memory it is refused because no event can hold such a prompt.
  const refused = { _tag: "InvalidRequestError", message: expect.stringContaining("at most 8388608"), field: "prompt" };
  const tooLarge = { _tag: "InvalidRequestError", message: expect.stringContaining("67108864"), kind: "Payload" };
  expect([response!.status, error]).toEqual(way === "in memory" ? [400, refused] : [413, tooLarge]);
  await expect(readHistory(host, sessionID)).resolves.toEqual([]);
});

test.each(["memory", "network"])("large bodies use memory in proportion to their size, %s", async (way) => {
  const { answers, peak } = await runProgram("large-bodies.js", way);
  const refusedTwice = (name: string, problem: string) => {
    const told = `400 InvalidRequestError ${problem}`;
    return [name, told, told];
  };
  expect(answers).toEqual([
    refusedTwice("text", "prompt"),
    refusedTwice("unfinished", "Payload"),
    refusedTwice("nested", "Payload"),
    refusedTwice("numbers", "Payload"),
    refusedTwice("members", "Payload"),
  ]);
  // In MiB. A body of 63 MiB is held a few times: by the sender, as text, as bytes, and as values.
  expect(peak).toBeLessThan(800);
});
