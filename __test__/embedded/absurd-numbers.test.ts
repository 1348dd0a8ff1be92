import { run, setUp } from "./support";

// Token counts of a broken provider, as JSON text because JavaScript has no integers of this size.

const PROTOCOLS = ["@ai-sdk/openai-compatible", "@ai-sdk/anthropic", "@ai-sdk/openai"] as const;
const ABSURD = ["18446744073709551615", "9223372036854775807", "1e300", "-5", "0.5"] as const;
const rows = PROTOCOLS.flatMap((npm) => ABSURD.map((count) => [npm, count] as const));

/** A complete reply in a protocol that reports `count` input tokens. */
function reply(npm: string, count: string) {
  const frames: Record<string, string[]> = {
    "@ai-sdk/openai-compatible": [
      `{"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}`,
      `{"choices":[],"usage":{"prompt_tokens":${count},"completion_tokens":${count},"total_tokens":${count}}}`,
      "[DONE]",
    ],
    "@ai-sdk/anthropic": [
      `{"type":"message_start","message":{"usage":{"input_tokens":${count},"cache_read_input_tokens":${count}}}}`,
      `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
      `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi."}}`,
      `{"type":"content_block_stop","index":0}`,
      `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":${count}}}`,
      `{"type":"message_stop"}`,
    ],
    "@ai-sdk/openai": [
      `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}`,
      `{"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"Hi."}`,
      `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}}`,
      `{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":${count},"output_tokens":${count},"total_tokens":${count}}}}`,
    ],
  };
  return { raw: frames[npm]!.map((data) => `data: ${data}\n\n`).join("") };
}

test.each(rows)("%s: treats a token count of %s as absent, also after the database is reopened", async (npm, count) => {
  const setup = await setUp();
  setup.model.reply(reply(npm, count), reply(npm, count), { text: "Fine." });
  const options = { config: setup.model.config({}, npm) };
  let host = await setup.open(options);
  const { id: sessionID } = await host.sessions.create();
  await run(host, sessionID, "One");
  await run(host, sessionID, "Two");
  await host.close();

  host = await setup.open(options);
  const { items } = await host.sessions.list();
  expect(items).toMatchObject([{ id: sessionID, cost: 0, tokens: { input: 0, output: 0 } }]);
  await run(host, sessionID, "Three");
  const { items: messages } = await host.sessions.messages({ sessionID, order: "asc" });
  expect(messages).toHaveLength(6);
  const counts = messages.flatMap((message) => (message.type === "assistant" ? [message.tokens] : []));
  expect(counts.slice(0, 2)).toMatchObject([{ input: 0, output: 0, cache: { read: 0, write: 0 } }, { input: 0 }]);
  let lines = 0;
  for await (const _line of await host.sessions.export({ sessionID })) lines += 1;
  expect(lines).toBeGreaterThan(10);
});
