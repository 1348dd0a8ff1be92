// The files that the steps of a session changed: their differences, their sums, and the event about them.

import { execFileSync } from "node:child_process";
import { rejection } from "../client/support";
import { readUntil, run, setUpSession } from "./support";

const write = (path: string, content: string) => ({ tools: [{ name: "write", input: { path, content } }] });

async function inRepository() {
  const started = await setUpSession();
  started.setup.write("a.txt", "one\n");
  const git = (...options: string[]) => execFileSync("git", options, { cwd: started.setup.directory, stdio: "ignore" });
  git("init", "--initial-branch=main");
  git("add", "--all");
  git("-c", "user.email=t@t", "-c", "user.name=t", "commit", "--message=first");
  const live = started.host.events.subscribe({ types: ["session.diff"] })[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  return { ...started, live };
}

test("the differences of a session, of a prompt and of an answer", async () => {
  const { host, model, sessionID, live, setup } = await inRepository();
  await expect(host.sessions.diff({ sessionID })).resolves.toEqual([]);
  model.reply(write("a.txt", "two\n"), { text: "Changed." });
  const first = await run(host, sessionID, "Change a");
  const [event] = (await readUntil(live, "session.diff")).slice(-1);
  const a = { path: "a.txt", status: "modified", additions: 1, deletions: 1, patch: expect.stringContaining("+two") };
  expect(event).toMatchObject({ data: { sessionID, diff: [a] } });
  model.reply(write("b.txt", "new\nlines\n"), { text: "Added." });
  const second = await run(host, sessionID, "Add b");
  await readUntil(live, "session.diff");
  const b = { path: "b.txt", status: "added", additions: 2, deletions: 0 };
  expect(await host.sessions.diff({ sessionID })).toMatchObject([a, b]);
  expect(await host.sessions.diff({ sessionID, messageID: first.id })).toMatchObject([a]);
  expect(await host.sessions.diff({ sessionID, messageID: second.id })).toMatchObject([b]);
  const { summary } = await host.sessions.get({ sessionID });
  expect(summary).toEqual({ additions: 3, deletions: 1, files: 2 });
  const messages = await host.sessions.messages({ sessionID, order: "asc" });
  const answers = messages.items.filter(({ type }) => type === "assistant");
  expect(await host.sessions.diff({ sessionID, messageID: answers[0]?.id ?? "" })).toMatchObject([a]);
  expect(await host.sessions.diff({ sessionID, messageID: answers.at(-1)?.id ?? "" })).toEqual([]);

  model.reply(write("a.txt", "one\n"), { text: "Back." });
  await run(host, sessionID, "Change a back");
  const back = (await readUntil(live, "session.diff")).at(-1);
  expect(back).toMatchObject({ data: { diff: [b] } });
  expect((await host.sessions.get({ sessionID })).summary).toEqual({ additions: 2, deletions: 0, files: 1 });

  await host.sessions.revert.stage({ sessionID, messageID: first.id });
  expect(await host.sessions.get({ sessionID })).not.toHaveProperty("summary");
  await host.sessions.revert.commit({ sessionID });
  expect(await host.sessions.diff({ sessionID })).toEqual([]);
  expect(await host.sessions.get({ sessionID })).not.toHaveProperty("summary");
  await host.close();
  const again = await setup.open();
  expect(await again.sessions.diff({ sessionID })).toEqual([]);
});

test("a session outside of a repository has no differences", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply(write("a.txt", "two\n"), { text: "Changed." });
  await run(host, sessionID, "Change a");
  expect(await host.sessions.diff({ sessionID })).toEqual([]);
  expect(await host.sessions.get({ sessionID })).not.toHaveProperty("summary");
});

test("an unknown session or message is refused", async () => {
  const { host, sessionID } = await setUpSession();
  const unknown = await rejection(host.sessions.diff({ sessionID: "ses_none" }));
  expect(unknown._tag).toBe("SessionNotFoundError");
  const message = await rejection(host.sessions.diff({ sessionID, messageID: "msg_none" }));
  expect(message._tag).toBe("MessageNotFoundError");
  const invalid = await rejection(host.sessions.diff({ sessionID, messageID: "none" }));
  expect(invalid._tag).toBe("InvalidRequestError");
});
