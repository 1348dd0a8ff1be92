// Repositories of an attacker, opened with the default options. The host executes nothing in them, sends data only to
// its own model, reads nothing outside of them, and a prompt ends.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost } from "../../index.js";
import { CONFIGURATIONS } from "./repositories/configuration";
import { DEFINITIONS } from "./repositories/definitions";
import { FILES } from "./repositories/files";
import { GIT } from "./repositories/git";
import { type Repository, Trap } from "./repositories/trap";
import { bash, call, hostOptions, readUntil, received, SECRET, setUpAttack, subscribe, VARIABLE } from "./support";

/** The time limit for opening a repository and running a prompt in it on a busy machine. */
const TIME_LIMIT_MS = 60_000;

/** The calls of the model. The pattern matches the secret without containing it. */
const pattern = `${SECRET.slice(0, 4)}[${SECRET[4]}]${SECRET.slice(5)}`;
const callsOf = ({ secretFile, outside }: Trap) => [
  bash("echo hello"),
  call("read", { path: "README.md" }),
  call("read", { path: "sub/notes.txt" }),
  call("read", { path: "../id_rsa" }),
  call("read", { path: secretFile }),
  call("read", { path: path.join(outside, "secret.md") }),
  call("read", { path: "link" }),
  call("read", { path: "pipe" }),
  call("glob", { pattern: "**/*.md" }),
  call("grep", { pattern }),
  call("grep", { pattern, path: "door" }),
  call("skill", { name: "stolen" }),
  call("edit", { path: "README.md", oldString: "A needle", newString: "The needle" }),
  call("write", { path: "new.txt", content: "new\n" }),
];

/** All lists of a Location and a session that a client can read, as text. Failures are replaced by their message. */
async function readSurfaces(host: OpenCodeHost, sessionID: string) {
  const reads = [
    host.location.get(),
    host.location.diagnostics(),
    host.agents.list(),
    host.models.list(),
    host.providers.list(),
    host.commands.list(),
    host.skills.list(),
    host.references.list(),
    host.files.list(),
    host.files.find({ query: "needle" }),
    host.permissions.listSaved(),
    host.sessions.get({ sessionID }),
    host.sessions.messages({ sessionID }),
    host.sessions.history({ sessionID, limit: 100 }),
    host.sessions.request({ sessionID }),
    host.debug.context(),
  ];
  const settled = await Promise.allSettled(reads);
  const texts = settled.map((it) => (it.status === "fulfilled" ? it.value : String(it.reason)));
  return JSON.stringify(texts);
}

/** The bytes of every file beside the project. */
function readOutside({ outside, secretFile }: Trap) {
  const entries = readdirSync(outside, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  return [secretFile, ...files].map((file) => [file, readFileSync(file, "hex")]);
}

async function open({ build, outcome }: Repository, inGit: boolean) {
  const attack = await setUpAttack();
  const { setup, model, attacker } = attack;
  const trap = new Trap(attack);
  if (inGit) trap.commit();
  build(trap);
  const outside = readOutside(trap);
  const began = performance.now();
  const env = { PATH: process.env["PATH"], [VARIABLE]: SECRET };
  const host = await setup.open(hostOptions(attack, { env, permissions: { unanswered: "deny" } }));
  const live = await subscribe(host);
  model.reply({ tools: callsOf(trap) }, { text: "Done." });
  const result = await host.sessions.run({ prompt: "Work" }).result;
  const events = await readUntil(live, "session.idle");
  const surfaces = await readSurfaces(host, result.sessionID);
  const terminal = await host.ptys.create({});
  await host.ptys.remove({ ptyID: terminal.data.id });
  await host.close();

  expect(performance.now() - began).toBeLessThan(TIME_LIMIT_MS);
  expect(result.outcome).toBe(outcome ?? "completed");
  expect(model.requests).toHaveLength(outcome === undefined ? 2 : 0);
  expect(trap.canaries.ran).toEqual([]);
  expect(readdirSync(setup.directory)).not.toContain("ran");
  expect(terminal.data.command.startsWith(setup.directory)).toBe(false);
  expect(received(attacker)).toEqual([]);
  expect(received(model).join("\n")).not.toContain(SECRET);
  expect(JSON.stringify([result, events])).not.toContain(SECRET);
  expect(surfaces).not.toContain(SECRET);
  expect(readOutside(trap)).toEqual(outside);
}

const ALL = [...CONFIGURATIONS, ...DEFINITIONS, ...FILES];

describe("in a Git repository", () => {
  test.each(ALL)("$name", (repository) => open(repository, true));
});

describe("outside of Git", () => {
  test.each(ALL.filter(({ isLarge }) => isLarge !== true))("$name", (repository) => open(repository, false));
});

describe("in Git data", () => {
  test.each(GIT)("$name", (repository) => open(repository, false));
});
