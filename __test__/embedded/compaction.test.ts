import { isServiceUnavailableError } from "../../index.js";
import type { OpenCodeEvent } from "../../index.js";
import { readHistory, readTranscript, readUntil, run, setUp, setUpSession, subscribe, types } from "./support";
import type { Setup } from "./support";

/** A text of about this number of tokens. */
function filler(word: string, tokens: number) {
  return `${word} `.repeat((tokens * 4) / (word.length + 1));
}

/** A model with a window of 40,000 tokens, of which 20,000 are reserved, and a session of two long messages. */
async function setUpLong(compaction: object = {}, env: Record<string, string> = {}) {
  const setup = await setUp();
  const config = setup.model.config({ compaction: { keep: { tokens: 100 }, ...compaction } });
  config.provider.mock.models.m1.limit = { context: 40_000, output: 2_000 };
  const host = await setup.open({ config, env });
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: filler("beta", 12_000) });
  await run(host, sessionID, filler("alpha", 5_000));
  return { ...setup, setup, host, sessionID, model: setup.model };
}

/** The roles of the messages in each request, and the limit of its answer. */
function asked({ model }: Setup) {
  return model.requests.map(({ body }) => ({
    roles: body.messages.map(({ role }: { role: string }) => role).join(" "),
    tools: body.tools !== undefined,
    most: body.max_tokens,
  }));
}

const TURN = { roles: "system user assistant user", tools: true, most: undefined };
const SUMMARY = { roles: "user", tools: false, most: 2_000 };
const COMPACTED = { roles: "system user", tools: true, most: undefined };

const overflow = { status: 400, body: { error: { message: "prompt is too long", code: "context_length_exceeded" } } };

test("continues a conversation that exceeds its window from a checkpoint", async () => {
  const { setup, host, model, sessionID } = await setUpLong();
  const live = await subscribe(host);
  model.reply({ deltas: ["## Objective\n", "- Go on"] }, { text: "Yes." });
  await run(host, sessionID, "PENDING");
  const events = (await readHistory(host, sessionID)).slice(6);
  expect(types(events)).toEqual([
    "prompt.admitted",
    "prompted",
    "compaction.started",
    "compaction.ended",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
  const [started, ended] = events.slice(2, 4).map(({ data }) => data);
  expect(ended).toStrictEqual({
    timestamp: expect.any(Number),
    sessionID,
    messageID: (started as { messageID: string }).messageID,
    reason: "auto",
    text: "## Objective\n- Go on",
    recent: expect.stringMatching(/beta \n\n\[User\]: PENDING$/),
  });
  expect(asked(setup).slice(1)).toEqual([SUMMARY, COMPACTED]);
  const observed: OpenCodeEvent[] = await readUntil(live, "session.next.compaction.ended");
  const deltas = observed.flatMap((event) => (event.type === "session.next.compaction.delta" ? [event.data.text] : []));
  expect(deltas).toEqual(["## Objective\n", "- Go on"]);
  const context = await host.sessions.context({ sessionID });
  expect(context.map(({ type }) => type)).toEqual(["compaction", "assistant"]);
  expect((await readTranscript(host, sessionID)).slice(2)).toEqual([
    "user: PENDING",
    "compaction: ",
    "assistant: Yes.",
  ]);
  await live.return?.();
});

test("compacts and repeats a request that the provider refuses as too long", async () => {
  const { setup, host, model, sessionID } = await setUpSession({ env: {} });
  model.reply({ text: filler("beta", 9_000) }, overflow, { text: "SUMMARY" }, { text: "Yes." });
  await run(host, sessionID, "Hi");
  await run(host, sessionID, "PENDING");
  expect(asked(setup).slice(1)).toEqual([TURN, { ...SUMMARY, most: 4_096 }, COMPACTED]);

  model.reply({ text: filler("gamma", 9_000) }, overflow, { text: "SUMMARY" }, overflow);
  await run(host, sessionID, "More");
  await run(host, sessionID, "Last");
  const [ended, , failed] = (await readHistory(host, sessionID)).slice(-3);
  expect(ended?.type).toBe("session.next.compaction.ended");
  expect(failed?.data).toMatchObject({ error: { cause: { kind: "context-overflow", status: 400 } } });
  expect(model.requests).toHaveLength(8);
});

const FULL = { error: { message: "Context size has been exceeded.", code: 400, type: "invalid_request_error" } };

test.each([
  ["with status 400", { status: 400, body: FULL }],
  ["inside of a stream", { raw: `data: ${JSON.stringify(FULL)}\n\ndata: [DONE]\n\n` }],
])("a local server whose window is full and unknown, %s, does not stop the session", async (_, refusal) => {
  const { host, model, sessionID } = await setUpSession({ env: {} });
  model.reply({ text: filler("beta", 9_000) }, refusal, { text: "SUMMARY" }, { text: "Yes." });
  await run(host, sessionID, "Hi");
  await run(host, sessionID, "PENDING");
  expect(types(await readHistory(host, sessionID)).slice(-6)).toEqual([
    "compaction.started",
    "compaction.ended",
    "step.started",
    "text.started",
    "text.ended",
    "step.ended",
  ]);
  await run(host, sessionID, "More");
  expect((await readTranscript(host, sessionID)).at(-2)).toBe("user: More");
});

test.each([
  ["by configuration", { auto: false }, {}],
  ["by the environment", {}, { OPENCODE_DISABLE_AUTOCOMPACT: "1" }],
])(
  "automatic compaction is switched off %s for both triggers, and manual compaction still works",
  async (_, compaction, env) => {
    const { setup, host, model, sessionID } = await setUpLong(compaction, env);
    model.reply(overflow, { text: "SUMMARY" }, { text: "Yes." });
    await run(host, sessionID, "PENDING");
    expect(types(await readHistory(host, sessionID)).slice(8)).toEqual(["step.started", "step.failed"]);
    await expect(host.sessions.compact({ sessionID })).resolves.toBeUndefined();
    await run(host, sessionID, "Next");
    expect(asked(setup).slice(1)).toEqual([TURN, SUMMARY, { ...COMPACTED, roles: "system user user" }]);
  },
);

test("the environment limits the length of an answer, and the tokens that are reserved for it", async () => {
  const env = { OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX: "500" };
  const { setup, host, model, sessionID } = await setUpLong({ buffer: 0 }, env);
  model.reply({ text: filler("gamma", 19_500) }, { text: "SUMMARY" }, { text: "Yes." });
  await run(host, sessionID, "More");
  await run(host, sessionID, "PENDING");
  const most = asked(setup).map((request) => request.most);
  expect(most).toEqual([undefined, undefined, 500, undefined]);
});

test("summarises a history of five windows in parts, and the session continues", async () => {
  const setup = await setUp();
  const { model } = setup;
  const withWindow = (context: number) => {
    const config = model.config({ compaction: { keep: { tokens: 100 } } });
    config.provider.mock.models.m1.limit = { context, output: 2_000 };
    return config;
  };
  const larger = await setup.open({ config: withWindow(1_000_000) });
  const { id: sessionID } = await larger.sessions.create();
  for (let turn = 0; turn < 10; turn += 1) {
    model.reply({ text: filler("beta", 12_000) });
    await run(larger, sessionID, filler("alpha", 8_000));
  }
  await larger.close();

  const host = await setup.open({ config: withWindow(40_000) });
  const live = await subscribe(host);
  // The second part is refused. From then on each part has one message.
  const parts = Array.from({ length: 17 }, (_, part) => ({ text: `PART ${part + 1}` }));
  model.reply({ text: "PART 0" }, overflow, ...parts, { text: "Yes." });
  await run(host, sessionID, "PENDING");
  const summaries = asked(setup).slice(10, -1);
  expect(summaries).toHaveLength(19);
  expect(new Set(summaries.map(({ roles, tools }) => `${roles} ${tools}`))).toEqual(new Set(["user false"]));
  expect(types((await readHistory(host, sessionID)).slice(62, 65))).toEqual([
    "compaction.started",
    "compaction.ended",
    "step.started",
  ]);
  const observed: OpenCodeEvent[] = await readUntil(live, "session.next.compaction.ended");
  const deltas = observed.flatMap((event) => (event.type === "session.next.compaction.delta" ? [event.data.text] : []));
  // The end of each other part is announced without a text.
  expect(deltas.filter((text) => text !== "")).toEqual(["PART 17"]);
  expect(asked(setup).at(-1)).toEqual(COMPACTED);
  await live.return?.();

  model.reply({ text: "Yes." });
  await run(host, sessionID, "NEXT");
  const context = await host.sessions.context({ sessionID });
  expect(context.map(({ type }) => type)).toEqual(["compaction", "assistant", "user", "assistant"]);
  expect(model.violations).toEqual([]);
});

test("reports a failed summary, and makes the turn without it", async () => {
  const { setup, host, model, sessionID } = await setUpLong();
  const live = await subscribe(host);
  model.reply({ text: " " }, { text: "Yes." });
  await run(host, sessionID, "PENDING");
  expect(types(await readHistory(host, sessionID)).slice(8, 10)).toEqual(["compaction.started", "step.started"]);
  expect(asked(setup).slice(1)).toEqual([SUMMARY, TURN]);
  const observed = (await readUntil(live, "session.error")).at(-1);
  expect(observed?.data).toStrictEqual({
    sessionID,
    error: {
      name: "UnknownError",
      data: {
        message: `The history of ${sessionID} was not compacted: the model answered with nothing`,
      },
      cause: { kind: "invalid-output", retryable: false, providerID: expect.any(String) },
    },
  });
  await live.return?.();

  model.reply({ text: "" });
  const failed = await host.sessions.compact({ sessionID }).catch((error: unknown) => error);
  expect(isServiceUnavailableError(failed) && { ...failed }).toStrictEqual({
    _tag: "ServiceUnavailableError",
    service: "session.compact",
    message: `The history of ${sessionID} was not compacted: the model answered with nothing`,
  });
});

test("an interruption during a summary leaves the session usable and loses no data", async () => {
  const { host, model, sessionID } = await setUpLong();
  model.reply({ deltas: ["SUM", "MARY"], gate: "summary" }, { text: "SUMMARY" }, { text: "Yes." });
  await host.sessions.prompt({ sessionID, prompt: { text: "PENDING" } });
  await model.reached("summary");
  await host.sessions.prompt({ sessionID, prompt: { text: "Meanwhile" } });
  await host.sessions.interrupt({ sessionID });
  expect(types(await readHistory(host, sessionID)).slice(6)).toEqual([
    "prompt.admitted",
    "prompted",
    "compaction.started",
    "prompt.admitted",
    "interrupted",
  ]);
  await run(host, sessionID, "Again");
  const [checkpoint] = await host.sessions.context({ sessionID });
  expect(checkpoint).toMatchObject({
    recent: expect.stringMatching(/\[User\]: PENDING\n\n\[User\]: Meanwhile\n\n\[User\]: Again$/),
  });
});

test("uses the agent compaction for the summary, and reports agents without effect", async () => {
  const setup = await setUp();
  const agents = { compaction: { system: "Sum up." }, summary: { system: "Sum it up." } };
  const config = setup.model.config({ agents, compaction: { keep: { tokens: 1 } } });
  const host = await setup.open({ config });
  const listed = (await host.agents.list()).data.map(({ id }) => id);
  expect(listed).toEqual(["build", "plan", "general", "explore", "compaction", "title"]);
  const { data } = await host.location.diagnostics();
  expect(data.map(({ message }) => message)).toEqual([expect.stringContaining("The agent summary has no effect")]);
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Well." }, { text: "SUMMARY" });
  await run(host, sessionID, "Hi");
  await host.sessions.compact({ sessionID });
  const [, summary] = setup.model.requests;
  expect(summary?.body.messages[0]).toEqual({ role: "system", content: "Sum up." });
  expect(asked(setup)[1]?.roles).toBe("system user");
});
