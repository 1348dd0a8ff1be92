// The todo list of a model: the host reads it and receives an event for every change.

import { isSessionNotFoundError, type Todo } from "../../index.js";
import { collect, rejection } from "../client/support";
import { readHistory, readTranscript, readUntil, run, setUp, setUpSession, subscribe } from "./support";

function todo(content: string, status: string): Todo {
  return { content, status, priority: "high" };
}

function writes(todos: readonly unknown[], id: string) {
  return { tools: [{ name: "todowrite", input: { todos }, id }] };
}

test("the list can be read and is kept after the host closes", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  expect(await host.sessions.todo({ sessionID })).toEqual([]);
  const live = await subscribe(host);
  const lists = [
    [todo("Look", "in_progress"), todo("Change", "pending")],
    [todo("Look", "completed"), todo("Change", "in_progress"), todo("Test", "pending")],
  ];
  model.reply(...lists.map((list, at) => writes(list, `call_${at}`)), { text: "Noted." });
  await run(host, sessionID, "Plan it");
  for (const todos of lists) {
    const updated = (await readUntil(live, "todo.updated")).at(-1);
    expect(updated).toMatchObject({ location: { directory: setup.directory }, data: { sessionID, todos } });
  }
  expect(await host.sessions.todo({ sessionID })).toEqual(lists[1]);
  const { body } = await model.received(2);
  expect(JSON.parse(body.messages.at(-1).content)).toEqual(lists[0]);
  const recorded = (await readHistory(host, sessionID)).filter(({ type }) => type === "session.next.todos.updated");
  expect(recorded.map(({ data }) => data)).toEqual(lists.map((todos) => expect.objectContaining({ sessionID, todos })));
  const lines = await collect(host.sessions.export({ sessionID }));
  const fork = await host.sessions.fork({ sessionID });
  expect(await host.sessions.todo({ sessionID: fork.id })).toEqual(lists[1]);
  await host.close();
  const again = await setup.open();
  expect(await again.sessions.todo({ sessionID })).toEqual(lists[1]);
  const other = await (await setUp()).open();
  await other.sessions.import(lines);
  expect(await other.sessions.todo({ sessionID })).toEqual(lists[1]);
});

test("refuses a list that is too long without a change, and tells the model", async () => {
  const { host, model, sessionID } = await setUpSession();
  const many = Array.from({ length: 201 }, () => todo("Look", "pending"));
  model.reply(writes([todo("Look", "pending")], "call_a"), writes(many, "call_b"), { text: "Noted." });
  await run(host, sessionID, "Plan it");
  expect(await host.sessions.todo({ sessionID })).toEqual([todo("Look", "pending")]);
  await expect(readTranscript(host, sessionID)).resolves.toEqual([
    "user: Plan it",
    "assistant: [todowrite completed]",
    "assistant: [todowrite error]",
    "assistant: Noted.",
  ]);
  const { body } = await model.received(3);
  expect(JSON.parse(body.messages.at(-1).content).error.message).toBe(
    "Unable to update todos: a list has at most 200 todos, not 201. Merge small ones",
  );
});

test("refuses an unknown session", async () => {
  const { host } = await setUpSession();
  const error = await rejection(host.sessions.todo({ sessionID: "ses_unknown" }));
  expect(isSessionNotFoundError(error) && error.sessionID).toBe("ses_unknown");
});
