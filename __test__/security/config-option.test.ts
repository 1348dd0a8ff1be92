import { existsSync } from "node:fs";
import type { InvalidOptionError, OpenCodeConfig } from "../../index.js";
import { rejection } from "../client/support";
import { run, setUp } from "../embedded/support";

/** The failure of `OpenCode.create` for a configuration that the types forbid. */
async function refuse(config: unknown) {
  const setup = await setUp();
  const error: InvalidOptionError = await rejection(setup.open({ config: config as OpenCodeConfig }));
  expect(Object.keys(error)).toEqual(["_tag", "option", "message"]);
  expect(error._tag).toBe("InvalidOptionError");
  expect(existsSync(setup.database)).toBe(false);
  return error;
}

describe("one invalid value refuses the whole option and is named by its path", () => {
  test.each([
    ["config.permission.bash", { permission: { bash: "never" } }, /must be "allow", "deny" or "ask"/],
    ["config.permissions[1].effect", { permissions: [rule(), { action: "bash", resource: "*" }] }, /is missing/],
    ["config.compaction.auto", { permission: { bash: "deny" }, compaction: { auto: "yes" } }, /must be true or false/],
    ["config.agents.build.steps", { agents: { build: { steps: 0 } } }, /must be a whole number of at least 1/],
    ["config.model", { model: "gpt" }, /must have the form provider\/model/],
    ["config.provider.p.options.headers", { provider: { p: { options: { headers: [] } } } }, /must be an object/],
    [
      "config.experimental.policies[0].action",
      { experimental: { policies: [{ ...policy(), action: "provider" }] } },
      /provider\.use/,
    ],
  ])("%s", async (option, config, message) => {
    const error = await refuse(config);
    expect(error.option).toBe(option);
    expect(error.message).toMatch(message);
    expect(error.message.startsWith(option)).toBe(true);
  });
});

describe("an unknown key refuses the whole option and suggests the intended key", () => {
  test.each([
    ["config.permision", { permision: { bash: "deny" } }, "Did you mean permission?"],
    ["config.compaction.keep.token", { compaction: { keep: { token: 5 } } }, "Did you mean tokens?"],
    ["config.tool_output.lines", { tool_output: { lines: 5 } }, "Did you mean max_lines?"],
    ["config.attachments.image.width", { attachments: { image: { width: 5 } } }, "Did you mean max_width?"],
    ["config.agents.build.permision", { agents: { build: { permision: [] } } }, "Did you mean permissions?"],
    ["config.permissions[0].efect", { permissions: [{ ...rule(), efect: "deny" }] }, "Did you mean effect?"],
    ["config.providers.p.header", { providers: { p: { header: {} } } }, "Known here: name, api, request"],
    ["config.provider.p.models.m.toolcall", { provider: { p: { models: { m: { toolcall: false } } } } }, "tool_call?"],
    [
      "config.mcp.files.env",
      { mcp: { files: { type: "local", command: ["x"], env: {} } } },
      "Did you mean environment?",
    ],
    ["config.commands.c.templat", { commands: { c: { templat: "x" } } }, "Did you mean template?"],
    ["config.references.r.hiden", { references: { r: { path: "/x", hiden: true } } }, "Did you mean hidden?"],
    ["config.experimental.policy", { experimental: { policy: [] } }, "Known here: policies"],
    ["config.watcher.ignored", { watcher: { ignored: [] } }, "Did you mean ignore?"],
  ])("%s", async (option, config, hint) => {
    const error = await refuse(config);
    expect(error.option).toBe(option);
    expect(error.message).toContain(`${option} is unknown`);
    expect(error.message).toContain(hint);
  });
});

test("one failure lists ten places, and no values", async () => {
  const agents = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`a${at}`, { prompt: "sk-secret-value" }]));
  const error = await refuse({ username: 5, model: "sk-secret-value", agents });
  const lines = error.message.split("\n");
  expect(lines.slice(0, 3).map((line) => line.split(" ")[0])).toEqual([
    "config.username",
    "config.model",
    "config.agents.a0.prompt",
  ]);
  expect([lines.length, lines.at(-1), error.option]).toEqual([11, "and 4 more", "config.username"]);
  expect(error.message).not.toContain("sk-secret-value");
});

test("any key is accepted in an open object", async () => {
  const setup = await setUp();
  setup.sendsOddBodies = true;
  const provider = setup.model.config().provider;
  const host = await setup.open({
    config: {
      ...setup.model.config(),
      $schema: "https://example.com/config.json",
      theme: "dark",
      plugin: ["some-plugin"],
      provider: { ...provider, other: { options: { ownSetting: { nested: [1] } } } },
      agent: { build: { temperature: 0.5, own_option: { nested: true } } },
      agents: { plan: { request: { body: { own: { nested: 1 } }, headers: { "x-own": "1" } } } },
      permission: { own_tool: "ask" },
    },
  });
  const { id } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, id, "Hi");
  expect((await setup.model.received(1)).body).toMatchObject({ own_option: { nested: true }, temperature: 0.5 });
});

function rule() {
  return { action: "bash", resource: "*", effect: "deny" };
}

function policy() {
  return { action: "provider.use", effect: "deny", resource: "*" };
}
