// The environment variables of commands and terminals.

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CommandEnvironment, OpenCodeHost } from "../../index.js";
import { readOutput, setUpTerminals } from "../embedded/pty-support";
import { readMessages, run, type Setup } from "../embedded/support";

const ENV = {
  PATH: process.env["PATH"],
  HOST_MODE: "test",
  INNER_NAME: "inner",
  OPENAI_API_KEY: "sk-openai-1",
  npm_token: "t-1",
  SAME: "secret-of-a-header-1",
};

async function setUpWith(commandEnvironment?: CommandEnvironment) {
  return setUpTerminals({ env: ENV, ...(commandEnvironment && { commandEnvironment }) });
}

/** The variables of ENV that a listing of `env` shows. */
const listed = (text: string) => Object.keys(ENV).filter((name) => text.includes(`${name}=`) && name !== "PATH");

async function inBash(host: OpenCodeHost, setup: Setup) {
  setup.model.reply({ tools: [{ name: "bash", input: { command: "env" } }] }, { text: "Done" });
  const { id: sessionID } = await host.sessions.create();
  await run(host, sessionID, "Run env");
  return listed(JSON.stringify(await readMessages(host, sessionID)));
}

test.each<[object, string[]]>([
  [{}, ["HOST_MODE", "INNER_NAME", "SAME"]],
  [{ omit: ["inner_*"] }, ["HOST_MODE", "SAME"]],
  [{ keep: ["NPM_TOKEN"] }, ["HOST_MODE", "INNER_NAME", "npm_token", "SAME"]],
  [{ omit: ["*"], keep: ["host_*"] }, ["HOST_MODE"]],
  [{ keep: ["*"] }, ["HOST_MODE", "INNER_NAME", "OPENAI_API_KEY", "npm_token", "SAME"]],
])("the setting %j passes the variables %j", async (rule, expected) => {
  const { host, setup, url } = await setUpWith(rule);
  expect(listed(await readOutput(host, url, "env"))).toEqual(expected);
  expect(await inBash(host, setup)).toEqual(expected);
});

test("variables from a client and from a function of the program are passed", async () => {
  const { host, url } = await setUpWith();
  host.ptys.environment(() => ({ FUNCTION_TOKEN: "given-by-a-function" }));
  const output = await readOutput(host, url, "echo $CALL_TOKEN $FUNCTION_TOKEN", {
    env: { CALL_TOKEN: "given-by-the-caller" },
  });
  expect(output).toBe("given-by-the-caller given-by-a-function\n");
});

test("a reload applies the headers that are configured then", async () => {
  const { host, setup, url } = await setUpWith();
  expect(listed(await readOutput(host, url, "env"))).toContain("SAME");
  const provider = { mine: { options: { headers: { "X-Any": ENV.SAME } }, models: { m: {} } } };
  const configuration = path.join(setup.root, ".config", "opencode");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "opencode.json"), JSON.stringify({ provider }));
  await host.location.reload();
  expect(listed(await readOutput(host, url, "env"))).not.toContain("SAME");
});
