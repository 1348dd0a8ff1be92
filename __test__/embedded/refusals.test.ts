// Refusals of models: the user learns of each, from the answer or from its metadata.

import { run, setUp } from "./support";

const KEY = "key-of-the-provider-1234567890";

/** Answers a prompt with these events, and returns the answer. */
async function ask(npm: string, events: object[]) {
  const setup = await setUp();
  const raw = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  setup.model.reply({ raw });
  const config = setup.model.config({}, npm);
  config.provider.mock.options.apiKey = KEY;
  const host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create({});
  await run(host, sessionID, "Help me");
  const [answer] = (await host.sessions.messages({ sessionID, limit: 1 })).items;
  if (answer?.type !== "assistant") throw new Error("there is no answer");
  return answer;
}

test("Anthropic: the metadata of the answer gives the reason", async () => {
  const details = { type: "refusal", category: "cyber", explanation: `Refused, ${KEY}.`, credit: "token" };
  const answer = await ask("@ai-sdk/anthropic", [
    { type: "message_start", message: { usage: { input_tokens: 20, output_tokens: 1 } } },
    {
      type: "message_delta",
      delta: { stop_reason: "refusal", stop_details: details },
      usage: { output_tokens: 0 },
    },
    { type: "message_stop" },
  ]);
  expect(answer.finish).toBe("content-filter");
  expect(answer.metadata?.refusal).toEqual({ category: "cyber", explanation: "Refused, <redacted>." });
});

test("OpenAI Chat: the refusal is the text of the answer", async () => {
  const chunk = (delta: object, finish: string | null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const answer = await ask("@ai-sdk/openai-compatible", [
    chunk({ role: "assistant", content: null, refusal: "" }, null),
    chunk({ refusal: "I cannot" }, null),
    chunk({ refusal: " help." }, null),
    chunk({}, "stop"),
  ]);
  expect(answer.content).toMatchObject([{ type: "text", text: "I cannot help." }]);
});
