import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost, OpenCodeOptions, SessionNextStepFailed } from "../../index.js";
import { readHistory, readTranscript, run, setUp, types } from "../embedded/support";
import type { Setup } from "../embedded/support";

// A name that does not exist is a failure. No other model or agent is used instead.

/** Prompts a session. Returns the reason why the prompt was not started. */
async function refusal(setup: Setup, host: OpenCodeHost, sessionID: string) {
  const result = await host.sessions.run({ sessionID, prompt: "Hi" }).result;
  expect(result).toMatchObject({ outcome: "not-started", error: { cause: { kind: "invalid-request" } } });
  expect(types(await readHistory(host, sessionID))).not.toContain("prompted");
  expect(await host.sessions.inbox.list({ sessionID })).toHaveLength(1);
  expect(setup.model.requests).toHaveLength(0);
  return String(result.reason);
}

/** Opens a host and a session, with more keys in the option `config`. */
async function start(more: Record<string, unknown>, options: OpenCodeOptions = {}) {
  const setup = await setUp();
  const host = await setup.open({ config: setup.model.config(more), ...options });
  const { id } = await host.sessions.create();
  return { setup, host, id };
}

/** The messages of all diagnostics. */
async function diagnostics(host: OpenCodeHost) {
  const { data } = await host.location.diagnostics();
  return data.map(({ message }) => message);
}

describe("the default model", () => {
  test.each([
    ["mock/m11", "the provider has no model of this id. It has m1."],
    ["mock/m1#hgh", 'has no variant "hgh"; it has none'],
    ["mok/m1", "no provider of this id is configured"],
  ])("%s is not replaced by a usable model", async (model, hint) => {
    const { setup, host, id } = await start({ model });
    expect(await refusal(setup, host, id)).toContain(hint);
    expect(await diagnostics(host)).toEqual([expect.stringContaining("no other one is used instead")]);
  });

  test("is not replaced if a file names it", async () => {
    const setup = await setUp();
    const { model: _, ...config } = setup.model.config();
    setup.write("opencode.json", JSON.stringify({ ...config, model: "mock/m11" }));
    const host = await setup.open({ config: {}, trust: true });
    const { id } = await host.sessions.create();
    expect(await refusal(setup, host, id)).toContain("It has m1.");
  });

  test("is the newest usable model if none is configured", async () => {
    const setup = await setUp();
    const { model: _, ...config } = setup.model.config();
    const host = await setup.open({ config });
    const { id } = await host.sessions.create();
    setup.model.reply({ text: "Hello." });
    await run(host, id, "Hi");
    expect(await readTranscript(host, id)).toEqual(["user: Hi", "assistant: Hello."]);
  });
});

describe("the default agent", () => {
  test.each([
    ["biuld", "there is no such agent. Did you mean build? Set default_agent to one of build, plan"],
    ["compaction", "it is hidden. Set default_agent to one of build, plan"],
    ["explore", "it is a subagent. Set default_agent to one of build, plan"],
  ])("%s is not replaced by another agent", async (default_agent, hint) => {
    const { setup, host, id } = await start({ default_agent });
    expect(await refusal(setup, host, id)).toContain(hint);
    expect(await diagnostics(host)).toEqual([expect.stringContaining(hint)]);
    await host.sessions.switchAgent({ sessionID: id, agent: "build" });
    await host.sessions.resume({ sessionID: id });
    await host.sessions.wait({ sessionID: id });
    expect(setup.model.requests).toHaveLength(1);
  });
});

describe("the agent of a session", () => {
  test("keeps the prompt pending while it does not exist, which runs when it exists", async () => {
    const { setup, host } = await start({});
    const { id } = await host.sessions.create({ agent: "biuld" });
    const reason = await refusal(setup, host, id);
    expect(reason).toBe('There is no agent "biuld". Did you mean build? Choose one of build, plan');
    await host.sessions.switchAgent({ sessionID: id, agent: "build" });
    setup.model.reply({ text: "Hello." });
    await run(host, id, "Again");
    expect((await readTranscript(host, id)).at(-1)).toBe("assistant: Hello.");
  });

  test("fails the next step if it is removed during a turn", async () => {
    const { setup, host, id } = await start({});
    setup.write("a.txt", "alpha\n");
    setup.model.reply({ tools: [{ name: "read", input: { path: "a.txt" } }], gate: "called" });
    await host.sessions.prompt({ sessionID: id, prompt: { text: "Read" } });
    await setup.model.reached("called");
    await host.sessions.switchAgent({ sessionID: id, agent: "plam" });
    setup.model.release("called");
    await host.sessions.wait({ sessionID: id });
    const failed = (await readHistory(host, id)).filter(
      (event): event is SessionNextStepFailed => event.type === "session.next.step.failed",
    );
    expect(failed.map(({ data }) => data.error.message)).toEqual([
      'There is no agent "plam". Did you mean plan? Choose one of build, plan',
    ]);
    expect(setup.model.requests).toHaveLength(1);
  });

  test("is denied all actions while it does not exist, also for requests of clients", async () => {
    const { host, id } = await start({ permission: "allow" });
    const asked = { sessionID: id, action: "bash", resources: ["ls"] };
    expect(await host.permissions.create(asked)).toMatchObject({ effect: "allow" });
    expect(await host.permissions.create({ ...asked, agent: "unknown" })).toMatchObject({ effect: "deny" });
  });
});

describe("the model of an agent", () => {
  test.each([
    [{ model: "mock/m11" }, "The model mock/m11 is not available: the provider has no model of this id. It has m1."],
    [{ model: "mock/m1", variant: "high" }, 'The model mock/m1 has no variant "high"; select one of low, medium'],
    [{ model: "mock/m1#high" }, 'The model mock/m1 has no variant "high"; select one of low, medium'],
  ])("%j is not replaced", async (build, hint) => {
    const setup = await setUp();
    const config = setup.model.config({ agents: { build } });
    Object.assign(config.provider.mock.models.m1, { variants: { low: {}, medium: {} } });
    const host = await setup.open({ config });
    const { id } = await host.sessions.create();
    expect(await refusal(setup, host, id)).toContain(hint);
  });
});

test("a command with an unknown name is a diagnostic", async () => {
  const setup = await setUp();
  const folder = path.join(setup.directory, ".opencode", "commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "tidy.md"), "---\nagent: pln\nmodel: mock/m1\n---\nTidy up");
  const command = {
    ask: { template: "Ask", agent: "biuld" },
    small: { template: "Small", model: "mock/m11" },
    fine: { template: "Fine", agent: "plan", model: "mock/m1" },
  };
  const host = await setup.open({ config: setup.model.config({ command }), trust: true });
  const { data } = await host.location.diagnostics();
  expect(data.map(({ path: file, message }) => [path.basename(file), message])).toEqual([
    ["tidy.md", expect.stringContaining('The command tidy cannot use its agent. There is no agent "pln". ')],
    [
      expect.any(String),
      expect.stringContaining('The command ask cannot use its agent. There is no agent "biuld". Did you mean build?'),
    ],
    [
      expect.any(String),
      expect.stringContaining("The command small cannot use its model. The model mock/m11 is not available"),
    ],
  ]);
});

describe("a model that calls no tools", () => {
  const PROTOCOLS = [
    ["@ai-sdk/openai-compatible", "parallelToolCalls"],
    ["@ai-sdk/openai", "parallelToolCalls"],
    ["@ai-sdk/anthropic", "disableParallelToolUse"],
  ] as const;

  test.each(PROTOCOLS)("receives no tools, and receives earlier calls as text: %s", async (npm, option) => {
    const setup = await setUp();
    setup.write("a.txt", "alpha\n");
    const config = setup.model.config({}, npm);
    const mute = { tool_call: false, limit: { context: 200_000, output: 8_000 }, options: { [option]: true } };
    Object.assign(config.provider.mock.models, { mute });
    const host = await setup.open({ config });
    const { id } = await host.sessions.create();
    setup.model.reply(
      { text: "Reading.", tools: [{ name: "read", input: { path: "a.txt" } }] },
      { text: "Alpha." },
      { text: "Nothing to call." },
    );
    await run(host, id, "Read it");
    await host.sessions.switchModel({ sessionID: id, model: { providerID: "mock", id: "mute" } });
    await run(host, id, "And now?");
    expect((await readTranscript(host, id)).at(-1)).toBe("assistant: Nothing to call.");
    expect(setup.model.requests).toHaveLength(3);
    const [first, , last] = setup.model.requests;
    expect(first?.body.tools.length).toBeGreaterThan(0);
    expect(Object.keys(last?.body)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(tools|tool_choice|parallel_tool_calls)$/)]),
    );
    expect(last?.text).not.toMatch(/"tool_calls"|"tool_use"|"function_call"|"role":"tool"|"tool_result"/);
    expect(last?.text).toContain("Called the tool read with");
    expect(last?.text).toContain("alpha");
  });
});
