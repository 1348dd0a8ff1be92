import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { rejection } from "../client/support";
import { readHistory, run, setUpSession, types } from "./support";

test("moves a session to another directory of its project, in which it then works", async () => {
  const { setup, model, host, session, sessionID } = await setUpSession();
  const directory = path.join(setup.root, "elsewhere");
  mkdirSync(directory);
  setup.write("a.txt", "Here");
  const moved = await host.sessions.move({ sessionID, location: { directory } });
  expect(moved).toStrictEqual({
    ...session,
    location: { directory },
    subpath: directory.slice(1),
    time: { created: session.time.created, updated: expect.any(Number) },
  });
  await expect(host.sessions.get({ sessionID })).resolves.toStrictEqual(moved);
  expect(types(await readHistory(host, sessionID))).toEqual(["moved"]);

  // Tools resolve a relative path against the new directory.
  model.reply({ tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "It is not here." });
  await run(host, sessionID, "Read a.txt");
  const history = await readHistory(host, sessionID);
  expect(types(history)).toContain("tool.failed");
});

test("records nothing if the directory is the same", async () => {
  const { setup, host, session, sessionID } = await setUpSession();
  const location = { directory: `${setup.directory}/x/..` };
  await expect(host.sessions.move({ sessionID, location })).resolves.toStrictEqual(session);
  await expect(readHistory(host, sessionID)).resolves.toEqual([]);
});

test("refuses a directory of another project", async () => {
  const { setup, host, sessionID } = await setUpSession();
  const directory = path.join(setup.root, "repository");
  mkdirSync(directory);
  const git = (...options: string[]) => execFileSync("git", options, { cwd: directory, stdio: "ignore" });
  git("init");
  git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "--allow-empty", "--message", "first");
  const refused = await rejection(host.sessions.move({ sessionID, location: { directory } }));
  expect({ ...refused }).toEqual({
    _tag: "InvalidRequestError",
    message: expect.stringContaining(directory),
    field: "location",
  });
  await expect(readHistory(host, sessionID)).resolves.toEqual([]);
});

test("refuses a relative directory", async () => {
  const { host, sessionID } = await setUpSession();
  await expect(host.sessions.move({ sessionID, location: { directory: "sub" } })).rejects.toMatchObject({
    _tag: "InvalidRequestError",
    field: "location.directory",
  });
  await expect(host.sessions.list({ directory: "sub" })).rejects.toMatchObject({
    _tag: "InvalidRequestError",
    field: "directory",
  });
});
