// The sources that answers cite, with every protocol and with models of the program.

import { citedSources } from "../../index.js";
import { readMessages, run, setUp } from "./support";
import type { ModelEvent, OpenCodeHost, SessionMessage } from "../../index.js";

const KEY = "key-of-the-provider-1234567890";
const PAGE = { type: "url", url: `https://a.test/?key=${KEY}`, title: "A" };
/** The page as the host stores it: without the key of the provider. */
const STORED = { ...PAGE, url: "https://a.test/?key=<redacted>" };

const place = { url: PAGE.url, title: PAGE.title, start_index: 0, end_index: 4 };
const of = (metadata: object | undefined) => JSON.parse(JSON.stringify(metadata ?? {}).replaceAll(KEY, "<redacted>"));

async function readAnswer(host: OpenCodeHost, sessionID: string) {
  const answer = (await readMessages(host, sessionID)).at(-1);
  if (answer?.type !== "assistant") throw new Error("there is no answer");
  const [part] = answer.content;
  const texts = answer.metadata?.["textProviderMetadata"] as Record<string, object> | undefined;
  return { sources: citedSources(answer), citations: texts?.[part?.id ?? ""] };
}

const anthropic = { ...PAGE, type: "web_search_result_location", cited_text: "…", encrypted_index: "x" };
const grounding = { groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }], groundingSupports: [] };
const annotation = { type: "url_citation", ...place };
const nested = { type: "url_citation", url_citation: place };

test.each<[string, object[], object]>([
  [
    "@ai-sdk/anthropic",
    [
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Yes." } },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "citations_delta", citation: anthropic },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
    { anthropic: { citations: [anthropic] } },
  ],
  [
    "@ai-sdk/openai",
    [
      { type: "response.output_item.added", item: { type: "message", id: "m1" } },
      { type: "response.output_text.delta", item_id: "m1", delta: "Yes." },
      {
        type: "response.output_item.done",
        item: {
          type: "message",
          id: "m1",
          content: [{ type: "output_text", text: "Yes.", annotations: [annotation] }],
        },
      },
      { type: "response.completed", response: { id: "r" } },
    ],
    { places: { annotations: [annotation] } },
  ],
  [
    "@ai-sdk/openai-compatible",
    [
      { choices: [{ index: 0, delta: { content: "Yes." } }] },
      { choices: [{ index: 0, delta: { annotations: [nested] }, finish_reason: "stop" }] },
    ],
    { places: { annotations: [nested] } },
  ],
  [
    "@ai-sdk/google",
    [
      { candidates: [{ content: { parts: [{ text: "Yes." }] } }] },
      { candidates: [{ finishReason: "STOP", groundingMetadata: grounding }] },
    ],
    { places: { groundingMetadata: grounding } },
  ],
])("%s: an answer has its sources, and its text the citations", async (npm, events, citations) => {
  const setup = await setUp();
  setup.model.reply({ raw: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") }, { text: "Done." });
  const config = setup.model.config({}, npm);
  config.provider.mock.options.apiKey = KEY;
  const host = await setup.open({ config });
  const { id: sessionID } = await host.sessions.create({});
  await run(host, sessionID, "Is it so?");
  const answer = await readAnswer(host, sessionID);
  expect(answer.sources).toEqual([STORED]);
  expect(answer.citations).toMatchObject(of(citations));
  // The next request of the same model is accepted, and the stored answer stays as it is.
  await run(host, sessionID, "Go on");
  expect(setup.model.requests).toHaveLength(2);
});

/** A host whose model answers with these events. */
async function openProgram(answer: () => AsyncGenerator<ModelEvent>) {
  const setup = await setUp();
  const host = await setup.open({ config: {} });
  host.providers.register({ id: "own", models: { m: {} }, stream: answer });
  const { id: sessionID } = await host.sessions.create({ model: { providerID: "own", id: "m" } });
  return { host, sessionID };
}

test("a source is listed once, and only addresses of the web are links", async () => {
  const { host, sessionID } = await openProgram(async function* () {
    yield { type: "text-delta", text: "Yes." };
    for (const title of [undefined, "A", "B"])
      yield { type: "source", source: { type: "url", url: "https://a.test", title } };
    yield { type: "source", source: { type: "url", url: "javascript:alert(1)" } };
    yield { type: "source", source: { type: "document", filename: "b.pdf", mediaType: "application/pdf" } };
    yield { type: "finish", reason: "stop" };
  });
  await run(host, sessionID, "Is it so?");
  const { sources } = await readAnswer(host, sessionID);
  expect(sources).toEqual([
    { type: "url", url: "https://a.test", title: "A" },
    { type: "document", filename: "b.pdf", mediaType: "application/pdf" },
  ]);
});

test("the result of a run has the sources of all turns, each once", async () => {
  let turns = 0;
  const { host, sessionID } = await openProgram(async function* () {
    turns += 1;
    yield { type: "source", source: { type: "url", url: "https://a.test" } };
    yield { type: "source", source: { type: "document", title: `Turn ${turns}` } };
    yield { type: "text-delta", text: "Yes." };
    if (turns === 1) yield { type: "tool-call", id: "c1", name: "glob", input: { pattern: "*" } };
    yield { type: "finish", reason: "stop" };
  });
  const result = await host.sessions.run({ sessionID, prompt: "Is it so?" }).result;
  expect(turns).toBe(2);
  expect(result.sources).toEqual([
    { type: "url", url: "https://a.test" },
    { type: "document", title: "Turn 1" },
    { type: "document", title: "Turn 2" },
  ]);
  expect(result.messages.map((message) => citedSources(message).length)).toEqual([2, 2]);
});

const page = { type: "url", url: "https://a.test", title: "A" };

test.each([
  ["no metadata", {}, []],
  ["other metadata", { metadata: { refusal: {} } }, []],
  ["a wrong list", { metadata: { sources: "https://a.test" } }, []],
  ["wrong elements", { metadata: { sources: [7, null, "x", {}, { type: "url" }, page] } }, [page]],
  ["an address that is no link", { metadata: { sources: [{ type: "url", url: "javascript:alert(1)" }] } }, []],
  ["wrong names", { metadata: { sources: [{ ...page, title: 7, more: 1 }] } }, [{ type: "url", url: page.url }]],
  ["wrong metadata", { metadata: 7 }, []],
])("the sources of a message with %s", (_, message, sources) => {
  expect(citedSources(message as unknown as SessionMessage)).toEqual(sources);
});

test("an answer that is cut off keeps its sources", async () => {
  let begun: () => void;
  const cited = new Promise<void>((resolve) => (begun = resolve));
  const { host, sessionID } = await openProgram(async function* () {
    yield { type: "text-delta", text: "Yes" };
    yield { type: "source", source: { type: "url", url: "https://a.test" } };
    yield { type: "text-delta", text: "." };
    begun();
    await new Promise(() => {});
  });
  const events = host.sessions.events({ sessionID });
  const { result } = host.sessions.run({ sessionID, prompt: "Is it so?" });
  await cited;
  for await (const { type } of events) if (type === "session.next.text.started") break;
  await host.sessions.interrupt({ sessionID });
  await result;
  const { sources } = await readAnswer(host, sessionID);
  expect(sources).toEqual([{ type: "url", url: "https://a.test" }]);
});

test.each([
  ["an unknown type", { type: "page", url: "https://a.test" }, /unknown variant `page`/],
  ["an unknown member", { type: "url", url: "https://a.test", text: "x" }, /unknown field `text`/],
  ["no address", { type: "url" }, /missing field `url`/],
  ["nothing", undefined, /source must have the member source/],
])("a source with %s fails the answer", async (_, source, message) => {
  const { host, sessionID } = await openProgram(async function* () {
    yield { type: "source", source } as never;
    yield { type: "finish", reason: "stop" };
  });
  await run(host, sessionID, "Is it so?");
  const answer = (await readMessages(host, sessionID)).at(-1);
  expect(answer).toMatchObject({ type: "assistant", error: { message: expect.stringMatching(message) } });
});
