import { run, setUp } from "./support";

// Texts of a broken provider, as JSON escapes because JavaScript would replace lone surrogates before they are sent.

const HUGE = "n".repeat(10_000_000);
const LONE = String.raw`a\ud800b`;
const CONTROL = String.raw`a\u0000\u001b[2Jb\n`;
/** The only signature that the scripted model accepts in a later request. */
const SIGNATURE = "c2lnbmVk";
const PROTOCOLS = ["@ai-sdk/openai-compatible", "@ai-sdk/anthropic", "@ai-sdk/openai"] as const;
const TEXTS = { huge: HUGE, "with a lone surrogate": LONE, "with control characters": CONTROL, empty: "" };
const rows = PROTOCOLS.flatMap((npm) => Object.entries(TEXTS).map(([name, text]) => [npm, name, text] as const));

/** A reply whose ids and names are this JSON text. Its texts are too, except if the text is huge. */
function reply(npm: string, odd: string) {
  const text = odd === HUGE ? "Hi." : odd;
  const call = String.raw`{\"path\":\"${text.replaceAll("\\", "\\\\")}\"}`;
  const frames: Record<string, string[]> = {
    "@ai-sdk/openai-compatible": [
      `{"id":"${odd}","model":"${odd}","choices":[{"index":0,"delta":{"content":"${text}","reasoning_content":"${text}"}}]}`,
      `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"${odd}","function":{"name":"${odd}","arguments":"${call}"}}]}}]}`,
      `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
      "[DONE]",
    ],
    "@ai-sdk/anthropic": [
      `{"type":"message_start","message":{"id":"${odd}","model":"${odd}","usage":{"input_tokens":1}}}`,
      `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
      `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"${text}"}}`,
      `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"${SIGNATURE}"}}`,
      `{"type":"content_block_stop","index":0}`,
      `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"${text}"}}`,
      `{"type":"content_block_stop","index":1}`,
      `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"${odd}","name":"${odd}","input":{}}}`,
      `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"${call}"}}`,
      `{"type":"content_block_stop","index":2}`,
      `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`,
      `{"type":"message_stop"}`,
    ],
    "@ai-sdk/openai": [
      `{"type":"response.created","response":{"id":"${odd}","model":"${odd}"}}`,
      `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"${odd}","name":"${odd}","arguments":""}}`,
      `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"${odd}","name":"${odd}","arguments":"${call}"}}`,
      `{"type":"response.completed","response":{"id":"${odd}","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`,
    ],
  };
  return { raw: frames[npm]!.map((data) => `data: ${data}\n\n`).join("") };
}

test.each(rows)("%s: a session works normally after its model sent texts %s", async (npm, _, text) => {
  const setup = await setUp();
  setup.model.reply(reply(npm, text), { text: "Fine." }, { text: "Well." }, { text: "Yes." });
  const options = { config: setup.model.config({}, npm) };
  let host = await setup.open(options);
  const { id: sessionID } = await host.sessions.create();
  await run(host, sessionID, "One");
  await host.close();

  host = await setup.open(options);
  expect((await host.sessions.list()).items).toMatchObject([{ id: sessionID }]);
  await expect(host.sessions.get({ sessionID })).resolves.toMatchObject({ id: sessionID });
  const { items } = await host.sessions.messages({ sessionID });
  expect(items.length).toBeGreaterThan(1);
  await run(host, sessionID, "Two");
  const [last] = (await host.sessions.messages({ sessionID, limit: 1 })).items;
  expect(last).toMatchObject({ type: "assistant", finish: "stop" });
  let lines = 0;
  for await (const _line of await host.sessions.export({ sessionID })) lines += 1;
  expect(lines).toBeGreaterThan(5);
  expect(JSON.stringify(setup.model.requests.at(-1)?.body).length).toBeLessThan(1_000_000);
});
