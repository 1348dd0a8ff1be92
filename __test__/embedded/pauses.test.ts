import { readHistory, readTranscript, run, setUp, types } from "./support";

// Anthropic pauses an answer whose server tools take long. It continues once it receives the answer back.

test("continues a paused answer without a new prompt", async () => {
  const setup = await setUp();
  setup.model.reply(
    { text: "Looking.", finish: "pause_turn" },
    { text: "Still looking.", finish: "pause_turn" },
    { text: "Found." },
    { text: "Welcome." },
  );
  const host = await setup.open({ config: setup.model.config({}, "@ai-sdk/anthropic") });
  const { id: sessionID } = await host.sessions.create({});
  await run(host, sessionID, "Search");
  expect(await readTranscript(host, sessionID)).toEqual([
    "user: Search",
    "assistant: Looking.",
    "assistant: Still looking.",
    "assistant: Found.",
  ]);
  const ended = types(await readHistory(host, sessionID)).filter((type) => type === "step.ended");
  expect(ended).toHaveLength(3);

  const roles = () => setup.model.requests.map(({ body }) => body.messages.map((it: { role: string }) => it.role));
  expect(roles()).toEqual([["user"], ["user", "assistant"], ["user", "assistant"]]);
  const texts = setup.model.requests[2]?.body.messages[1].content.map((it: { text: string }) => it.text);
  expect(texts).toEqual(["Looking.", "Still looking."]);
  expect(await host.sessions.interrupted()).toEqual([]);

  await run(host, sessionID, "Thanks");
  expect(roles().at(-1)).toEqual(["user", "assistant", "user"]);
});

test("continues a paused answer in the next host if the first closes before", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Looking.", finish: "pause_turn" }, { text: "Never.", gate: "held" });
  const config = setup.model.config({}, "@ai-sdk/anthropic");
  let host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create({});
  await host.sessions.prompt({ sessionID, prompt: { text: "Search" } });
  await setup.model.reached("held");
  await host.close();

  setup.model.reply({ text: "Found." });
  host = await setup.open({ config });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: Found.");
});
