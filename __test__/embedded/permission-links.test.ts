// Permission rules about paths with symbolic links.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { OpenCodeOptions, PermissionRule } from "../../index.js";
import { run, setUp, type Setup } from "./support";

type Rules = Record<string, "allow" | "ask" | "deny">;

/** A folder with the file `volume/proj/n.txt`, to which the path `ide` leads through two links. */
function makeLinks(setup: Setup) {
  const top = path.join(setup.root, "links");
  mkdirSync(path.join(top, "volume/proj"), { recursive: true });
  mkdirSync(path.join(setup.directory, "src"));
  writeFileSync(path.join(top, "volume/proj/n.txt"), "the content\n");
  symlinkSync("volume", path.join(top, "middle"));
  symlinkSync(path.join(top, "middle"), path.join(top, "ide"));
  setup.write("src/a.txt", "inside\n");
  symlinkSync("src", path.join(setup.directory, "link"));
  return top;
}

interface Case {
  /** Rules for `external_directory`; `@` is the folder of the links. */
  outside?: Rules;
  edit?: Rules;
  read?: Rules;
  /** The call. */
  tool: string;
  input: Record<string, string>;
  allowed: boolean;
}

const READ = { tool: "read", input: { path: "@/ide/proj/n.txt" } };
const READ_REAL = { tool: "read", input: { path: "@/volume/proj/n.txt" } };
const WRITE = { tool: "write", input: { path: "@/ide/proj/new.txt", content: "x" } };
const EDIT = { tool: "edit", input: { path: "@/ide/proj/n.txt", oldString: "the", newString: "some" } };
const BASH = { tool: "bash", input: { command: "cat n.txt", workdir: "@/ide/proj" } };

const CASES: Case[] = [
  ...[READ, READ_REAL, WRITE, EDIT, BASH].flatMap((call): Case[] => [
    { ...call, outside: { "*": "allow" }, allowed: true },
    { ...call, outside: { "*": "allow", "@/ide/**": "deny" }, allowed: false },
    { ...call, outside: { "*": "deny", "@/ide/**": "allow" }, allowed: true },
    { ...call, outside: { "*": "deny", "@/volume/**": "allow" }, allowed: true },
    { ...call, outside: { "*": "allow", "@/middle/proj/*": "deny" }, allowed: false },
  ]),
  { ...READ, outside: { "@/volume/**": "deny", "@/ide/**": "allow" }, allowed: false },
  { ...READ, outside: { "@/ide/**": "deny", "@/ide/proj/**": "allow" }, allowed: true },
  { ...READ, outside: { "@/ide/**": "deny", "@/volume/**": "allow" }, allowed: false },
  { ...READ, outside: { "@/ide/**": "deny", "*": "allow" }, allowed: true },
  { tool: "read", input: { path: "link/a.txt" }, read: { "link/*": "deny" }, allowed: false },
  { tool: "read", input: { path: "src/a.txt" }, read: { "link/*": "deny" }, allowed: false },
  {
    tool: "write",
    input: { path: "link/b.txt", content: "x" },
    edit: { "*": "deny", "link/**": "allow" },
    allowed: true,
  },
  { tool: "write", input: { path: "link/b.txt", content: "x" }, edit: { "#/link/**": "deny" }, allowed: false },
  { tool: "write", input: { path: "src/b.txt", content: "x" }, edit: { "#/src/**": "deny" }, allowed: false },
];

/** Runs one call under rules that an option, a ceiling or the session gives. Returns if the call succeeded. */
async function succeeds(from: "config" | "ceiling" | "session", { outside, edit, read, tool, input }: Case) {
  const setup = await setUp();
  const top = makeLinks(setup);
  const named = (text: string) => text.replace("@", top).replace("#", setup.directory);
  const filled = <Value>(record: Record<string, Value>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [named(name), value]));
  const permission = {
    ...(outside === undefined ? {} : { external_directory: filled(outside) }),
    ...(edit === undefined ? {} : { edit: filled(edit) }),
    ...(read === undefined ? {} : { read: filled(read) }),
  };
  const options: OpenCodeOptions =
    from === "config"
      ? { config: { ...setup.model.config(), permission } }
      : from === "ceiling"
        ? {
            config: { ...setup.model.config(), permission: { external_directory: "allow" } },
            permissions: { ceiling: permission },
          }
        : {};
  const host = await setup.open({ ...options, permissions: { unanswered: "deny", ...options.permissions } });
  const rules = Object.entries(permission).flatMap(([action, effects]) =>
    Object.entries(effects).map(([resource, effect]): PermissionRule => ({ action, resource, effect })),
  );
  const session = await host.sessions.create(from === "session" ? { permission: rules } : {});
  const call = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, named(value)]));
  setup.model.reply({ tools: [{ name: tool, input: call, id: "c1" }] }, { text: "Done." });
  await run(host, session.id, "Go");
  const result = String(setup.model.requests.at(-1)?.body.messages.at(-1)?.content);
  const refused = result.includes("Unable to");
  const file = path.resolve(setup.directory, named(input["path"] ?? ""));
  if (tool === "write") {
    const exists = existsSync(file);
    expect({ exists, result }).toEqual({ exists: !refused, result });
  }
  if (tool === "edit") {
    expect(readFileSync(file, "utf8")).toBe(refused ? "the content\n" : "some content\n");
  }
  return !refused;
}

test.each(["config", "session"] as const)("rules of %s count for the named and the real path", async (from) => {
  for (const each of CASES) {
    expect({ each, allowed: await succeeds(from, each) }).toEqual({ each, allowed: each.allowed });
  }
});

test("a ceiling restricts the named and the real path", async () => {
  for (const each of CASES.filter(({ allowed }) => !allowed)) {
    expect({ each, allowed: await succeeds("ceiling", each) }).toEqual({ each, allowed: false });
  }
});

test("a rule below the home directory counts through a link", async () => {
  const setup = await setUp();
  const top = makeLinks(setup);
  const home = path.join(setup.root, "home");
  mkdirSync(home);
  symlinkSync(path.join(top, "ide"), path.join(home, "ide"));
  const host = await setup.open({
    home,
    config: { ...setup.model.config(), permission: { external_directory: { "*": "allow", "~/ide/**": "deny" } } },
  });
  for (const file of [path.join(home, "ide/proj/n.txt"), path.join(top, "volume/proj/n.txt")]) {
    const session = await host.sessions.create();
    setup.model.reply({ tools: [{ name: "read", input: { path: file }, id: "c1" }] }, { text: "Done." });
    await run(host, session.id, "Go");
    expect(String(setup.model.requests.at(-1)?.body.messages.at(-1)?.content)).toContain("Unable to read");
  }
});

test("an attached file is judged by its named and its real path", async () => {
  const setup = await setUp();
  const top = makeLinks(setup);
  const host = await setup.open({
    config: {
      ...setup.model.config(),
      permission: { external_directory: { "*": "allow", [`${top}/ide/**`]: "deny" } },
    },
  });
  const session = await host.sessions.create();
  setup.model.reply({ text: "Seen." });
  const uri = `file://${top}/ide/proj/n.txt`;
  await host.sessions.prompt({ sessionID: session.id, prompt: { text: "Look", files: [{ uri }] } });
  await host.sessions.wait({ sessionID: session.id });
  expect(JSON.stringify(setup.model.requests.at(-1)?.body.messages)).not.toContain("the content");
});
