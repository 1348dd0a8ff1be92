import { setUp } from "./support";
import type { OpenCodeHost } from "../../index.js";

// Servers that extend Chat Completions: OpenRouter and GitHub Copilot.

const chunk = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const delta = (content: object) => chunk({ choices: [{ index: 0, delta: content }] });
const end = (usage: object) =>
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }) + "data: [DONE]\n\n";

async function ask(host: OpenCodeHost, sessionID: string, text: string) {
  await host.sessions.prompt({ sessionID, prompt: { text } });
  await host.sessions.wait({ sessionID });
}

test("OpenRouter gets its reasoning back, and its cost counts", async () => {
  const setup = await setUp();
  const detail = { type: "reasoning.text", index: 0, text: "Hm.", signature: "S" };
  const sealed = { type: "reasoning.encrypted", index: 1, data: "x" };
  const usage = { prompt_tokens: 10, completion_tokens: 5, cost: 0.25 };
  const answer = [{ reasoning_details: [detail] }, { content: "Yes." }, { reasoning_details: [sealed] }];
  setup.model.reply({ raw: answer.map(delta).join("") + end(usage) }, { text: "Bye." });
  const config = setup.model.config({}, "@openrouter/ai-sdk-provider");
  let host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Go");
  expect((await host.sessions.get({ sessionID })).cost).toBe(0.25);
  await host.close();
  host = await setup.open({ config });
  await ask(host, sessionID, "Thanks");

  const [first, second] = setup.model.requests;
  expect(first?.body).toMatchObject({ usage: { include: true }, prompt_cache_key: sessionID });
  const replayed = { role: "assistant", content: "Yes.", reasoning: "Hm.", reasoning_details: [detail, sealed] };
  expect(second?.body.messages.at(-2)).toEqual(replayed);
});

test("a model of GitHub Copilot that needs Responses is called with it", async () => {
  const setup = await setUp();
  const id = "rs_1";
  const events = [
    { type: "response.output_item.added", item: { type: "reasoning", id, summary: [] } },
    { type: "response.reasoning_summary_text.delta", item_id: id, delta: "Hm." },
    { type: "response.output_item.done", item: { type: "reasoning", id, summary: [], encrypted_content: "SEALED" } },
    { type: "response.output_text.delta", item_id: "m1", delta: "Yes." },
    { type: "response.completed", response: { id: "r1" } },
  ];
  setup.model.reply({ raw: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") }, { text: "Done." });
  const options = { apiKey: "secret", baseURL: setup.model.config({}).provider.mock.options.baseURL };
  const host = await setup.open({ config: { provider: { "github-copilot": { options } } } });
  const model = { providerID: "github-copilot", id: "gpt-5.4" };
  const { id: sessionID } = await host.sessions.create({ model });
  await ask(host, sessionID, "Is it so?");
  await ask(host, sessionID, "Thanks");
  const [first, second] = setup.model.requests;
  expect(first?.path).toMatch(/\/responses$/);
  expect(first?.headers).toMatchObject({ "x-initiator": "user", authorization: "Bearer secret" });
  expect(first?.body).toMatchObject({
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "medium", summary: "auto" },
  });
  const thought = second?.body.input.find((item: { type?: string }) => item.type === "reasoning");
  const summary = [{ type: "summary_text", text: "Hm." }];
  expect(thought).toEqual({ type: "reasoning", id, summary, encrypted_content: "SEALED" });
  // Older models and those of other makers have Chat Completions.
  const older = await host.sessions.create({ model: { ...model, id: "claude-sonnet-4.6" } });
  setup.model.reply({ text: "Hi." });
  await ask(host, older.id, "Hi");
  expect(setup.model.requests[2]?.path).toMatch(/\/chat\/completions$/);
  expect(setup.model.requests[2]?.headers).toMatchObject({ "x-initiator": "user" });
});

test("GitHub Copilot is told who began each request", async () => {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  setup.model.reply({ text: "Reading.", tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "Alpha." });
  const host = await setup.open({ config: setup.model.config({}, "@ai-sdk/github-copilot") });
  const { id: sessionID } = await host.sessions.create({});
  await ask(host, sessionID, "Read it");
  // A child session is work of the agent.
  const child = await host.sessions.create({ parentID: sessionID });
  await ask(host, child.id, "Help");
  const headers = setup.model.requests.map((it) => it.headers);
  expect(headers.map((it) => it["x-initiator"])).toEqual(["user", "agent", "agent"]);
  expect(headers[0]).toMatchObject({ "openai-intent": "conversation-edits", authorization: "Bearer secret" });
});
