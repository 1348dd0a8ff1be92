// Tasks: work that an agent delegates to another agent, which does it in a child session.

import { isSessionNotFoundError } from "../../index.js";
import { rejection } from "../client/support";
import { readMessages, readTranscript, readUntil, run, setUpSession, subscribe } from "./support";

function task(prompt: string, more?: { agent?: string; sessionID?: string; id?: string }) {
  const { id = "c1", ...input } = { description: "A look around", prompt, agent: "explore", ...more };
  return { name: "task", input, id };
}

test("a task runs in a child session and can continue there", async () => {
  const { host, model, session, sessionID } = await setUpSession();
  model.reply({ tools: [task("Where is it?")] }, { text: "In src." }, { text: "It is in src." });
  await run(host, sessionID, "Find it");
  const [child, ...others] = await host.sessions.children({ sessionID });
  if (child === undefined) throw new Error("the session has no child");
  expect(others).toEqual([]);
  expect(child).toMatchObject({
    parentID: sessionID,
    agent: "explore",
    title: "A look around",
    location: session.location,
  });
  expect(await readTranscript(host, sessionID)).toEqual([
    "user: Find it",
    "assistant: [task completed]",
    "assistant: It is in src.",
  ]);
  expect(await readTranscript(host, child.id)).toEqual(["user: Where is it?", "assistant: In src."]);
  const answers = (await readMessages(host, sessionID)).filter((message) => message.type === "assistant");
  expect(answers[0]?.content[0]).toMatchObject({
    state: { structured: { sessionID: child.id, text: "In src." } },
  });
  const result = model.requests[2]?.body.messages.find(({ role }: { role: string }) => role === "tool");
  expect(result.content).toBe(`In src.\n(session ${child.id})`);
  expect(model.requests.map(({ headers }) => headers["x-parent-session-id"])).toEqual([
    undefined,
    sessionID,
    undefined,
  ]);

  model.reply({ tools: [task("Sure?", { sessionID: child.id })] }, { text: "Yes." }, { text: "It is." });
  await run(host, sessionID, "Ask again");
  expect((await host.sessions.children({ sessionID })).map(({ id }) => id)).toEqual([child.id]);
  expect(await readTranscript(host, child.id)).toEqual([
    "user: Where is it?",
    "assistant: In src.",
    "user: Sure?",
    "assistant: Yes.",
  ]);
});

test("requests of a child belong to the child, and an interruption of its parent withdraws them", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  setup.write(".env", "SECRET=1");
  const read = { name: "read", input: { path: ".env" }, id: "c2" };
  model.reply({ tools: [task("Read it", { agent: "general" })] }, { tools: [read] });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  const asked = (await readUntil(live, "permission.v2.asked")).at(-1);
  const [child] = await host.sessions.children({ sessionID });
  if (child === undefined) throw new Error("the session has no child");
  expect(asked).toMatchObject({ data: { sessionID: child.id, action: "read", resources: [".env"] } });
  expect(await host.permissions.list({ sessionID })).toEqual([]);
  expect(await host.permissions.list({ sessionID: child.id })).toHaveLength(1);
  expect(Object.keys(await host.sessions.active()).sort()).toEqual([child.id, sessionID].sort());
  await host.sessions.interrupt({ sessionID });
  expect(await host.sessions.active()).toEqual({});
  expect(await host.permissions.list({ sessionID: child.id })).toEqual([]);
  expect(await readTranscript(host, sessionID)).toEqual(["user: Go", "assistant: [task error]"]);
  expect(await readTranscript(host, child.id)).toEqual(["user: Read it", "assistant: [read error]"]);
});

test("the options limit the number and the depth of tasks", async () => {
  const { host, model, sessionID } = await setUpSession({ limits: { subagents: 1, subagentDepth: 1 } });
  model.reply(
    { tools: [task("One"), task("Two", { id: "c2" })] },
    { text: "Done.", gate: "child" },
    { text: "One of them." },
  );
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  const failed = (await readUntil(live, "session.next.tool.failed")).at(-1);
  expect(failed).toMatchObject({
    data: {
      error: {
        message:
          "Unable to run task: explore: 1 tasks of this session run, and no more may; call it again when one has ended",
      },
    },
  });
  model.release("child");
  await host.sessions.wait({ sessionID });
  // The tasks start in parallel, and either of them may be first.
  const [, calls, last] = await readTranscript(host, sessionID);
  expect([calls, last]).toEqual([
    expect.stringMatching(/^assistant: (\[task completed\]\[task error\]|\[task error\]\[task completed\])$/),
    "assistant: One of them.",
  ]);
  expect(await host.sessions.children({ sessionID })).toHaveLength(1);
});

test("an unknown session has no children", async () => {
  const { host } = await setUpSession();
  const failure = await rejection(host.sessions.children({ sessionID: "ses_none" }));
  expect(isSessionNotFoundError(failure)).toBe(true);
});
