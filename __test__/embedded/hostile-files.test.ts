// Hostile paths and inputs. A secret lies outside of the project. No tool may read, change or mention it unless a user
// approved a request that names its directory.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AssistantPartTool, OpenCodeOptions } from "../../index.js";
import type { ToolCall } from "../../testkit/reply.js";
import { readMessages, run, setUp, subscribe } from "./support";

type Started = Awaited<ReturnType<typeof setUpHostile>>;

const SECRET = "The secret that stays outside";
/** Number of calls of one answer. They run in parallel. */
const CALLS_IN_ONE_ANSWER = 40;

/** A session in a project, a secret beside the project, and links in the project that lead to it. */
async function setUpHostile(options?: OpenCodeOptions, configuration = {}) {
  const setup = await setUp();
  const { model, root, directory } = setup;
  const host = await setup.open({ config: model.config(configuration), ...options });
  const { id: sessionID } = await host.sessions.create();
  const outside = path.join(root, "outside");
  mkdirSync(outside);
  writeFileSync(path.join(outside, "secret.txt"), `${SECRET}\n`);
  mkdirSync(path.join(directory, "sub"));
  setup.write("sub/inside.txt", "inside\n");
  symlinkSync("../outside/secret.txt", path.join(directory, "link"));
  symlinkSync(outside, path.join(directory, "door"));
  symlinkSync("sub/../door", path.join(directory, "chain"));
  symlinkSync("loop", path.join(directory, "loop"));
  symlinkSync("../outside/new.txt", path.join(directory, "dangling"));
  symlinkSync("/proc/self", path.join(directory, "self"));
  symlinkSync("/dev/zero", path.join(directory, "zero"));
  execFileSync("mkfifo", [path.join(directory, "fifo")]);
  return { setup, model, host, sessionID, outside };
}

/** All entries of a directory: names, bytes, modes and modification times. */
function readTree(directory: string) {
  const names = ["", ...(readdirSync(directory, { recursive: true }) as string[])].sort();
  return names.map((name) => {
    const file = path.join(directory, name);
    const { mode, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [name, mode, mtimeNs, ctimeNs, statSync(file).isFile() ? readFileSync(file, "hex") : "directory"];
  });
}

/** Makes the model issue all these calls, in parallel if they fit into one answer. */
async function call({ host, model, sessionID }: Started, calls: readonly ToolCall[]) {
  for (let at = 0; at < calls.length; at += CALLS_IN_ONE_ANSWER) {
    model.reply({ tools: calls.slice(at, at + CALLS_IN_ONE_ANSWER) });
  }
  model.reply({ text: "Done." });
  await run(host, sessionID, "Use your tools");
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.filter((part): part is AssistantPartTool => part.type === "tool");
}

/** Every element of a stream, read as soon as it arrives. */
async function readAll<Element>(stream: AsyncIterator<Element>) {
  const read: Element[] = [];
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) read.push(next.value);
  return read;
}

/** Lines such as `read ../outside: error`, one per call. */
function outcomes(calls: readonly ToolCall[], tools: readonly AssistantPartTool[]) {
  return tools.map(({ name, state }, index) => `${name} ${JSON.stringify(calls[index]?.input)}: ${state.status}`);
}

/** A call with this path for every tool that accepts a file. */
function led(target: string): ToolCall[] {
  const at = { path: target };
  const patch = (text: string) => ({ patchText: `*** Begin Patch\n${text}*** End Patch` });
  return [
    { name: "read", input: at },
    { name: "write", input: { ...at, content: "changed\n" } },
    { name: "edit", input: { ...at, oldString: "The", newString: "A" } },
    { name: "apply_patch", input: patch(`*** Add File: ${target}\n+changed\n`) },
    { name: "apply_patch", input: patch(`*** Update File: ${target}\n@@\n+changed\n`) },
    { name: "apply_patch", input: patch(`*** Delete File: ${target}\n`) },
  ];
}

/** A call with this path for every tool that searches or works in a directory. */
function sent(target: string): ToolCall[] {
  const at = { path: target };
  return [
    { name: "glob", input: { ...at, pattern: "**" } },
    { name: "grep", input: { ...at, pattern: "secre." } },
    { name: "bash", input: { workdir: target, command: "cat secret.txt; echo changed > secret.txt" } },
  ];
}

test("no path leads a tool outside of the project, and no output reveals what lies there", async () => {
  const started = await setUpHostile({ permissions: { unanswered: "deny" } });
  const { host, model, sessionID, outside } = started;
  const live = readAll(await subscribe(host));
  const before = readTree(outside);
  const files = [
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "sub//.././../outside/./secret.txt",
    path.join(outside, "secret.txt"),
    path.join(outside, "new.txt"),
    `/proc/self/root${outside}/secret.txt`,
    `/proc/thread-self/root${outside}/secret.txt`,
    `self/root${outside}/secret.txt`,
    `//${outside}/secret.txt`,
    "link",
    "door/secret.txt",
    "door/new/deep.txt",
    "chain/secret.txt",
    "dangling",
    "loop",
    "loop/secret.txt",
    "link/secret.txt",
    "sub/inside.txt/../../../outside/secret.txt",
    "/proc/self/mem",
    "/proc/self/environ",
    "/proc/self/fd/0",
    "self/mem",
    "/dev/zero",
    "/dev/tty",
    "/dev/stdin",
    "/dev/fd/0",
    "zero",
    "fifo",
    "sub/inside.txt\u0000/../../../outside/secret.txt",
    `${"a/".repeat(3_000)}b`,
    "x".repeat(300),
  ];
  const links = ["door", "chain", "loop", `self/root${outside}`];
  const directories = ["..", "../outside", outside, ...links, "/proc/self/cwd", "/"];
  const calls = [...files.flatMap(led), ...directories.flatMap(sent)];
  const tools = await call(started, calls);
  const refused = calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}: error`);
  expect(outcomes(calls, tools)).toEqual(refused);
  expect(readTree(outside)).toEqual(before);

  await host.close();
  const everything = JSON.stringify([await live, model.requests.map(({ text }) => text)]);
  expect(everything).toContain(sessionID);
  expect(everything).not.toContain(SECRET);
});

test("executes the approved access even if a link replaces the path in the meantime", async () => {
  const started = await setUpHostile({}, { permission: { read: "ask", edit: "ask" } });
  const { setup, host, outside } = started;
  const before = readTree(outside);
  const { directory } = setup;
  for (const name of ["read", "write", "edit", "patch"]) {
    mkdirSync(path.join(directory, name));
    setup.write(`${name}/secret.txt`, "The inside\n");
  }
  const asked: string[] = [];
  host.permissions.handle(({ action, resources }) => {
    asked.push(`${action} ${resources.join(" ")}`);
    const folder = path.join(directory, path.dirname(resources[0] ?? ""));
    renameSync(folder, `${folder}-moved`);
    symlinkSync(outside, folder);
    return "once";
  });
  const calls = [
    { name: "read", input: { path: "read/secret.txt" } },
    { name: "write", input: { path: "write/secret.txt", content: "changed\n" } },
    { name: "edit", input: { path: "edit/secret.txt", oldString: "The", newString: "A" } },
    {
      name: "apply_patch",
      input: { patchText: "*** Begin Patch\n*** Delete File: patch/secret.txt\n*** End Patch" },
    },
  ];
  const tools = await call(started, calls);
  expect(asked.sort()).toEqual([
    "edit edit/secret.txt",
    "edit patch/secret.txt",
    "edit write/secret.txt",
    "read read/secret.txt",
  ]);
  expect(tools.map(({ state }) => state.status)).toEqual(["error", "error", "error", "error"]);
  expect(readTree(outside)).toEqual(before);
});

test("an approved directory outside is accessible, and no other path is", async () => {
  const started = await setUpHostile();
  const { host, outside } = started;
  const file = path.join(outside, "secret.txt");
  const asked: string[] = [];
  host.permissions.handle(({ action, resources }) => {
    asked.push(`${action} ${resources.join(" ")}`);
    return asked.length === 1 ? "once" : { reply: "reject", message: "No." };
  });
  const first = { name: "read", input: { path: file } };
  const [read] = await call(started, [first]);
  expect(read?.state).toMatchObject({ status: "completed", structured: { content: `${SECRET}\n` } });
  const before = readTree(outside);
  const again = await call(started, [{ name: "write", input: { path: file, content: "changed\n" } }]);
  expect(again.map(({ state }) => state.status)).toEqual(["completed", "error"]);
  expect(asked).toEqual([`external_directory ${outside}/*`, `external_directory ${outside}/*`]);
  expect(readTree(outside)).toEqual(before);
});
