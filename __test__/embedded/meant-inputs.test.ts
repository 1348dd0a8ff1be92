import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Reply } from "../../testkit/reply.js";
import { run, setUpSession } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

/** The results that the model received for the calls of its first answer. */
async function runTools(started: Started, ...tools: NonNullable<Reply["tools"]>) {
  started.model.reply({ tools }, { text: "Done." });
  await run(started.host, started.sessionID, "Use your tools");
  const { body } = await started.model.received(2);
  const results: { role: string; content: string }[] = body.messages;
  return results.filter(({ role }) => role === "tool").map(({ content }) => content);
}

test("the model reads the file, the line or the name that it means", async () => {
  const started = await setUpSession();
  const { setup } = started;
  for (const folder of ["pkg/.storybook", "src"]) mkdirSync(path.join(setup.directory, folder), { recursive: true });
  setup.write("it\u2019s caf\u00e9.txt", "the content\n");
  setup.write("pkg/.storybook/main.ts", "story\n");
  setup.write("src/a.ts", "needle\n");
  const results = await runTools(
    started,
    { name: "read", input: { path: "it's cafe\u0301.txt" } },
    { name: "read", input: { path: `file://${setup.directory}/src/a.ts`, offset: null } },
    { name: "read", input: { path: "@src/a.ts:1\n", limit: "1" } },
    { name: "glob", input: { pattern: "**/.storybook/main.ts", path: null } },
    { name: "glob", input: { pattern: `${setup.directory}/src/*.ts` } },
    { name: "grep", input: { pattern: "needle", path: null, include: "./src/*.ts", limit: "2" } },
  );
  for (const [index, text] of ["the content", "needle", "needle", "main.ts", "a.ts", "Line 1: needle"].entries()) {
    expect(results[index]).toContain(text);
  }
});

test("the model reads why a call failed", async () => {
  const started = await setUpSession();
  const { setup } = started;
  setup.write("three.txt", "1\n2\n3\n");
  mkdirSync(path.join(setup.directory, "sub"));
  const results = await runTools(
    started,
    { name: "read", input: { path: "tree.txt" } },
    { name: "read", input: { path: "three.txt", offset: 9 } },
    { name: "edit", input: { path: "sub", oldString: "a", newString: "b" } },
    { name: "grep", input: { pattern: "foo(" } },
    { name: "grep", input: { pattern: "zzz" } },
    { name: "grep", input: { pattern: "foo", path: "nowhere" } },
    { name: "glob", input: { pattern: "[" } },
    { name: "bash", input: { command: "true", workdir: "nowhere" } },
    { name: "bash", input: { command: `true ${"x".repeat(200_000)}` } },
    { name: "bash", input: { command: "echo printed first; kill -TERM $$" } },
    { name: "task", input: { description: "a", prompt: "a", agent: "researcher" } },
    { name: "skill", input: { name: "none" } },
  );
  const expected = [
    "Unable to read tree.txt: there is no such file. Similar names: three.txt",
    "it has 3 lines",
    "Unable to edit sub: it is a directory, not a file",
    "unclosed group",
    "No matches found in",
    "Unable to grep for foo: nowhere: there is no such file",
    "the pattern is not valid",
    "the working directory nowhere cannot be used: there is no such file",
    "131000 is the limit",
    "Command was ended by SIGTERM (exit code 143).",
    "The agents are: explore, general",
    "there is no skill of this name",
  ];
  for (const [index, text] of expected.entries()) expect(results[index]).toContain(text);
  expect(results[9]).toContain("printed first");
});
