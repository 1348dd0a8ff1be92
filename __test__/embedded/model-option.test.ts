import { OpenCode } from "../../index.js";
import type { OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { rejection } from "../client/support";
import { readTranscript, readUntil, run, setUp, subscribe } from "./support";

/** The failure of the first session of a host. */
async function readRefusal(host: OpenCodeHost): Promise<string> {
  const live = await subscribe(host);
  const { id: sessionID } = await host.sessions.create();
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  const failure = (await readUntil(live, "session.error")).at(-1);
  if (failure?.type !== "session.error") throw new Error("The host reported no failure");
  return failure.data.error.data.message;
}

describe("runs a model that no configuration describes", () => {
  test.each(["openai", "anthropic", "local"])("of the provider %s", async (provider) => {
    const setup = await setUp();
    const baseURL = setup.model.config().provider.mock.options.baseURL;
    const host = await setup.open({ config: {}, model: `${provider}/gpt-test`, apiKey: "sk-option", baseURL });
    const { id: sessionID } = await host.sessions.create();
    setup.model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
    const { headers, body } = await setup.model.received(1);
    expect(headers["x-api-key"] ?? headers.authorization).toMatch(/^(Bearer )?sk-option$/);
    expect(body.model).toBe("gpt-test");
    expect(body.tools.length).toBeGreaterThan(0);
  });
});

test("reads the address and the key from the environment", async () => {
  const setup = await setUp();
  const env = { OPENAI_BASE_URL: setup.model.config().provider.mock.options.baseURL, OPENAI_API_KEY: "sk-variable" };
  const host = await setup.open({ config: {}, env, model: "openai/gpt-test" });
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, sessionID, "Hi");
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
  expect((await setup.model.received(1)).headers.authorization).toBe("Bearer sk-variable");
});

test("reports a missing key, and sends no request", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: {}, model: "openai/gpt-4.1-mini" });
  await expect(readRefusal(host)).resolves.toBe(
    "No API key for provider openai: set OPENAI_API_KEY or pass apiKey to OpenCode.create",
  );
});

test("does not send a key to an address from a project file", async () => {
  const setup = await setUp();
  const address = setup.model.config().provider.mock.options.baseURL;
  const evil = { provider: { openai: { options: { baseURL: "http://127.0.0.1:1/evil" } } } };
  setup.write("opencode.json", JSON.stringify(evil));
  const host = await setup.open({
    config: {},
    trust: true,
    env: { OPENAI_BASE_URL: address },
    model: "openai/gpt-test",
    apiKey: "sk-option",
  });
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, sessionID, "Hi");
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
});

test("names provider, model and address of a server that cannot be reached", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: {}, model: "openai/gpt-4.1-mini", baseURL: "http://127.0.0.1:1/v1" });
  const { id: sessionID } = await host.sessions.create();
  await run(host, sessionID, "Hi");
  const [, answer] = (await host.sessions.messages({ sessionID, order: "asc" })).items;
  if (answer?.type !== "assistant") throw new Error("The last message is not an answer");
  expect(answer.error?.message).toBe(
    "openai/gpt-4.1-mini at http://127.0.0.1:1/v1/responses cannot be reached: connection refused",
  );
});

describe("refuses an invalid option and shows the valid form", () => {
  const form = 'model must be "provider/model", for example "openai/gpt-4.1-mini"';
  test.each<[string, OpenCodeOptions, string]>([
    ["model", { model: "gpt-4" }, form],
    ["model", { model: "" }, form],
    ["model", { model: "openai/" }, form],
    ["model", { model: { providerID: "openai", id: "m" } as never }, `${form}, got an object`],
    ["apiKey", { apiKey: "sk-secret" }, "apiKey needs the option model"],
    ["baseURL", { baseURL: "http://h" }, "baseURL needs the option model"],
    ["apiKey", { model: "a/b", apiKey: "" }, 'Option "apiKey" must be a non-empty string'],
    ["apiKey", { model: "a/b", apiKey: "sk-secret\n" }, "apiKey must be a non-empty string without line ends"],
    ["baseURL", { model: "a/b", baseURL: "sk-secret.example/v1" }, "baseURL must be an absolute http or https URL"],
    ["model", { model: "a/b", config: { model: "a/c" } }, "model and config.model name different models"],
  ])("%s, case %#", async (option, options, message) => {
    const setup = await setUp();
    const error = await rejection(OpenCode.create(setup.options({ config: {}, ...options })));
    expect(error).toMatchObject({ _tag: "InvalidOptionError", option, message: expect.stringContaining(message) });
    expect(JSON.stringify(error)).not.toContain("sk-secret");
  });
});

test("the option and the configuration may name the same model", async () => {
  const setup = await setUp();
  const host = await setup.open({ model: "a/b", baseURL: "http://127.0.0.1:1", config: { model: "a/b" } });
  await expect(host.health.get()).resolves.toBeDefined();
});
