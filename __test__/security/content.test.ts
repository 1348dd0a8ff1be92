// Whatever shows the content of a file to the model obeys the rules for reading it.

import { linkSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { OpenCodeOptions } from "../../index.js";
import type { ToolCall } from "../../testkit/reply.js";
import {
  answering,
  call,
  hostOptions,
  providers,
  received,
  run,
  SECRET,
  setUpAttack,
  type Attack,
  writeFile,
} from "./support";

const CONTENT = `token = ${SECRET}\nsecond line\n`;

/** A project whose files contain the secret, each with another name. */
async function setUpFiles(files: readonly string[]) {
  const attack = await setUpAttack();
  for (const file of files) writeFile(attack.setup, file, CONTENT);
  writeFile(attack.setup, "plain.txt", "token = public\n");
  return attack;
}

const update = (file: string) =>
  `*** Begin Patch\n*** Update File: ${file}\n@@\n-token = wrong\n-second line\n+x\n*** End Patch`;

/** Every way in which a tool can show a file. None of the inputs contains the secret. */
const WAYS: readonly [string, (file: string) => ToolCall][] = [
  ["read", (file) => call("read", { path: file })],
  ["grep of the project", () => call("grep", { pattern: "token" })],
  ["grep with the file as include", (file) => call("grep", { pattern: "token", include: path.basename(file) })],
  ["grep of the file", (file) => call("grep", { pattern: "token", path: file })],
  [
    "a failure of edit",
    (file) => call("edit", { path: file, oldString: "token = wrong\nsecond line", newString: "x" }),
  ],
  ["a failure of apply_patch", (file) => call("apply_patch", { patchText: update(file) })],
];

/** Options under which a file of these names is not shown without a question. */
const RULES: readonly [string, readonly string[], (attack: Attack) => OpenCodeOptions][] = [
  ["the built-in rules", [".env", ".env.local", ".envrc", ".ENV", "sub/prod.env", ".\uff25NV"], () => ({})],
  [
    "the option config",
    ["secrets/key", "Secrets/KEY", "caf\u00e9/key", "cafe\u0301/key"],
    ({ model }) => ({
      config: {
        provider: providers(model),
        permission: { read: { "*": "allow", "secrets/*": "deny", "caf\u00e9/*": "deny" } },
      },
    }),
  ],
  [
    "the ceiling",
    ["secrets/key", "SECRETS/key"],
    () => ({ permissions: { ceiling: { read: { "secrets/*": "deny" } } } }),
  ],
];

const CASES = RULES.flatMap(([rule, files, options]) => files.map((file) => [rule, file, options] as const));

describe.each(CASES)("by %s, nothing shows %j", (_, file, options) => {
  test.each(WAYS)("%s", async (way, callOf) => {
    const attack = await setUpFiles([file]);
    const host = await attack.setup.open(hostOptions(attack, options(attack)));
    attack.model.reply({ tools: [callOf(file)] }, { text: "Done." });
    await host.sessions.run({ prompt: "Go", unanswered: "deny" }).result;
    expect(received(attack.model).join("\n")).not.toContain(SECRET);
    if (way === "grep of the project") expect(received(attack.model).join("\n")).toContain("1 file was left out");
  });
});

test("a task for explore obeys the same rules", async () => {
  const attack = await setUpFiles([".env"]);
  const host = await attack.setup.open(hostOptions(attack, { permissions: { unanswered: "deny" } }));
  const task = call("task", { description: "Look", prompt: "Find the token", agent: "explore" });
  const calls = [
    call("read", { path: ".env" }),
    call("grep", { pattern: "token", path: ".env" }),
    call("grep", { pattern: "token" }),
  ];
  attack.model.reply({ tools: [task] }, { tools: calls }, { text: "Found nothing." }, { text: "Done." });
  await host.sessions.run({ prompt: "Go", unanswered: "deny" }).result;
  expect(attack.model.requests).toHaveLength(4);
  expect(received(attack.model).join("\n")).not.toContain(SECRET);
});

test.each([
  ["a hard link", (from: string, to: string) => linkSync(from, to)],
  ["a symbolic link", (from: string, to: string) => symlinkSync(from, to)],
])("%s to .env obeys the rule for .env", async (_, link) => {
  for (const [, callOf] of WAYS) {
    const attack = await setUpFiles([".env"]);
    link(path.join(attack.setup.directory, ".env"), path.join(attack.setup.directory, "notes.txt"));
    const host = await attack.setup.open(hostOptions(attack));
    attack.model.reply({ tools: [callOf("notes.txt")] }, { text: "Done." });
    await host.sessions.run({ prompt: "Look at @notes.txt", unanswered: "deny" }).result;
    expect(received(attack.model).join("\n")).not.toContain(SECRET);
  }
});

test.each([
  ["a mention", (file: string) => ({ text: `Look at @${file}` })],
  [
    "a file of the prompt",
    (file: string, directory: string) => ({
      text: "Look",
      files: [{ uri: `file://${directory}/${file}` }],
    }),
  ],
])("%s of a file that may not be read is not shown", async (_, prompt) => {
  for (const file of [".env", ".envrc", ".ENV"]) {
    const attack = await setUpFiles([file]);
    const host = await attack.setup.open(hostOptions(attack));
    const { id } = await host.sessions.create();
    attack.model.reply({ text: "Done." });
    await host.sessions.run({ sessionID: id, prompt: prompt(file, attack.setup.directory), unanswered: "deny" }).result;
    expect(received(attack.model).join("\n")).not.toContain(SECRET);
  }
});

test("a user who allows the question lets the model search the file", async () => {
  const attack = await setUpFiles([".env"]);
  const host = await attack.setup.open(hostOptions(attack));
  const asked = answering(host, "once");
  const { id } = await host.sessions.create();
  attack.model.reply({ tools: [call("grep", { pattern: "token", path: ".env" })] }, { text: "Done." });
  await run(host, id, "Go");
  expect(asked.map(({ action, resources }) => [action, resources])).toEqual([["read", [".env"]]]);
  expect(received(attack.model).join("\n")).toContain(SECRET);
});
