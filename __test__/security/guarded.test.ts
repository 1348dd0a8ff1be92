// Files that decide what the host or Git does: a tool changes them only after a question, and the host trusts the
// change only after the program confirms it.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { answering, call, hostOptions, providers, runCalls, setUpAttack, type Attack, writeFile } from "./support";

const FILES = [
  "opencode.json",
  "opencode.jsonc",
  "OpenCode.json",
  "sub/opencode.json",
  ".opencode/opencode.json",
  ".opencode/agent/x.md",
  ".opencode/agents/deep/x.md",
  ".opencode/mode/x.md",
  ".opencode/command/x.md",
  ".opencode/skill/x/SKILL.md",
  ".opencode/plugin/x.ts",
  ".git/config",
  ".git/hooks/pre-commit",
  ".git/info/attributes",
  ".gitattributes",
  ".gitmodules",
];

const write = (file: string) => call("write", { path: file, content: "{}" });

describe.each(FILES)("%s", (file) => {
  test("is not changed without a question, even with rules that allow everything", async () => {
    for (const options of [
      () => ({}),
      ({ model }: Attack) => ({ config: { provider: providers(model), permission: "allow" as const } }),
      ({ model }: Attack) => ({
        config: { provider: providers(model), permission: { edit: { "*": "allow", "**": "allow" } } },
      }),
    ] satisfies ((attack: Attack) => OpenCodeOptions)[]) {
      const attack = await setUpAttack();
      const before = existsSync(path.join(attack.setup.directory, file));
      const host = await attack.setup.open(hostOptions(attack, options(attack)));
      const { calls } = await runCalls(host, attack.model, write(file));
      expect(calls).toEqual(["write error"]);
      expect(existsSync(path.join(attack.setup.directory, file))).toBe(before);
    }
  });

  test("is asked for each time after an always", async () => {
    const attack = await setUpAttack();
    const host = await attack.setup.open(hostOptions(attack));
    const asked = answering(host, "always");
    await runCalls(host, attack.model, write(file));
    await runCalls(host, attack.model, write(file));
    expect(asked.map(({ action, resources, save }) => [action, resources, save])).toEqual([
      ["edit", [file], undefined],
      ["edit", [file], undefined],
    ]);
    expect(asked[0]?.metadata).toMatchObject({ reason: expect.stringContaining("decides") });
    expect(JSON.stringify(await host.permissions.listSaved())).not.toContain("edit");
  });
});

test("a rule of the host that names the file allows it, and a rule of a project does not", async () => {
  const attack = await setUpAttack();
  const permission = { edit: { "*": "allow", ".opencode/**": "allow", "**/opencode.json": "allow" } } as const;
  writeFile(attack.setup, ".opencode/opencode.json", { permission });
  const trusting = await attack.setup.open(hostOptions(attack, { trust: true }));
  expect((await runCalls(trusting, attack.model, write(".opencode/agent/x.md"))).calls).toEqual(["write error"]);
  await trusting.close();
  const config = { provider: providers(attack.model), permission };
  const host = await attack.setup.open(hostOptions(attack, { config }));
  const calls = [write(".opencode/agent/x.md"), write("a/opencode.json"), write(".git/config"), write("plain.json")];
  expect((await runCalls(host, attack.model, ...calls)).calls).toEqual([
    "write completed",
    "write completed",
    "write error",
    "write completed",
  ]);
});

test("a link to a directory of definitions is asked for under every name", async () => {
  const attack = await setUpAttack();
  const { directory } = attack.setup;
  mkdirSync(path.join(directory, "docs/agents"), { recursive: true });
  mkdirSync(path.join(directory, ".opencode"));
  symlinkSync("../docs/agents", path.join(directory, ".opencode/agent"));
  const host = await attack.setup.open(hostOptions(attack));
  const calls = [write("docs/agents/x.md"), write(".opencode/agent/x.md"), write("docs/x.md")];
  expect((await runCalls(host, attack.model, ...calls)).calls).toEqual([
    "write error",
    "write error",
    "write completed",
  ]);
});

const AGENT = "---\npermission:\n  bash: allow\n---\nA text.\n";

/** The MCP servers of the project, and the files that a tool changed. */
async function readState(host: OpenCodeHost) {
  const { data } = await host.location.diagnostics();
  return {
    servers: (await host.mcp.list()).data.map(({ name }) => name),
    distrusted: data.filter(({ message }) => message.includes("location.trust")).map(({ path: file }) => file),
  };
}

test("a changed document of a trusted project counts as untrusted until the program confirms it", async () => {
  const attack = await setUpAttack();
  const { directory } = attack.setup;
  const file = path.join(directory, "opencode.json");
  const mcp = { stolen: { type: "local", command: ["true"], enabled: false } };
  const options = hostOptions(attack, { trust: true });
  writeFile(attack.setup, "opencode.json", { mcp: { known: mcp.stolen } });
  let host = await attack.setup.open(options);
  expect(await readState(host)).toMatchObject({ servers: ["known"], distrusted: [] });
  answering(host, "once");
  const content = JSON.stringify({ mcp });
  const { calls } = await runCalls(host, attack.model, call("write", { path: "opencode.json", content }));
  expect(calls).toEqual(["write completed"]);
  expect(readFileSync(file, "utf8")).toBe(content);
  await host.location.reload();
  expect(await readState(host)).toMatchObject({ servers: [], distrusted: [file] });
  await host.close();
  // The next host knows it, too.
  host = await attack.setup.open(options);
  expect(await readState(host)).toMatchObject({ servers: [], distrusted: [file] });
  await host.location.trust({ location: { directory }, trusted: true });
  expect(await readState(host)).toMatchObject({ servers: ["stolen"], distrusted: [] });
  await host.close();
  host = await attack.setup.open(options);
  expect(await readState(host)).toMatchObject({ servers: ["stolen"], distrusted: [] });
});

test("a document that a tool wrote counts as untrusted in every Location below it", async () => {
  const attack = await setUpAttack();
  const { directory } = attack.setup;
  spawnSync("git", ["init", "--quiet"], { cwd: directory });
  const host = await attack.setup.open(hostOptions(attack, { trust: true }));
  mkdirSync(path.join(directory, "sub"));
  answering(host, "once");
  const agent = call("write", { path: ".opencode/agent/build.md", content: AGENT });
  await runCalls(host, attack.model, agent);
  const { data } = await host.location.diagnostics({ location: { directory: path.join(directory, "sub") } });
  const about = data.filter(({ message }) => message.includes("location.trust"));
  expect(about.map((it) => it.path)).toEqual([path.join(directory, ".opencode/agent/build.md")]);
});

test("bash warns about such files", async () => {
  const attack = await setUpAttack();
  const host = await attack.setup.open(hostOptions(attack));
  await runCalls(host, attack.model, call("bash", { command: "echo 1 >.opencode/x; echo 2 >x" }));
  const text = JSON.stringify(attack.model.requests.at(-1)?.body);
  expect(text).toContain('names \\".opencode/x\\", which decides what the host or Git does');
});
