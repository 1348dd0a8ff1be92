// Removal of sessions with everything that belongs to them.

import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { isSessionBusyError, isSessionNotFoundError, resumeEvents } from "../../index.js";
import { rejection } from "../client/support";
import { readUntil, run, setUp, setUpSession, subscribe } from "./support";

test("a removed session, its children and its streams are gone", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const child = await host.sessions.create({ parentID: sessionID });
  const other = await host.sessions.create();
  model.reply({ text: "Hello." });
  await run(host, sessionID, "Hi");
  const live = await subscribe(host);
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  expect((await events.next()).done).toBe(false);
  await host.sessions.remove({ sessionID });
  // The stream ends. A stream that connects again reports the reason.
  while (!(await events.next()).done);
  const resumed = resumeEvents(host, { sessionID, after: 1 })[Symbol.asyncIterator]();
  expect(isSessionNotFoundError(await rejection(resumed.next()))).toBe(true);
  await host.sessions.switchAgent({ sessionID: other.id, agent: "plan" });
  const deleted = (await readUntil(live, "session.next.agent.switched")).filter(
    ({ type }) => type === "session.deleted",
  );
  expect(deleted).toMatchObject([{ data: { info: { id: sessionID } } }, { data: { info: { id: child.id } } }]);
  for (const id of [sessionID, child.id]) {
    for (const call of [
      host.sessions.get({ sessionID: id }),
      host.sessions.prompt({ sessionID: id, prompt: "Again" }),
      host.sessions.wait({ sessionID: id }),
      host.sessions.remove({ sessionID: id }),
    ]) {
      const error = await rejection(call);
      expect(isSessionNotFoundError(error) && error.sessionID).toBe(id);
    }
  }
  await host.close();
  const again = await setup.open();
  const { items } = await again.sessions.list();
  expect(items.map(({ id }) => id)).toEqual([other.id]);
});

test("a session that works is removed only with interrupt", async () => {
  const { host, model, sessionID } = await setUpSession();
  model.reply({ text: "Hello.", gate: "held" });
  const working = host.sessions.run({ sessionID, prompt: "Hi" });
  await model.reached("held");
  const error = await rejection(host.sessions.remove({ sessionID }));
  expect(isSessionBusyError(error) && error.sessionID).toBe(sessionID);
  await host.sessions.remove({ sessionID, interrupt: true });
  const { outcome } = await working.result;
  expect(outcome).toBe("interrupted");
  expect(isSessionNotFoundError(await rejection(host.sessions.get({ sessionID })))).toBe(true);
  await expect(host.sessions.active()).resolves.toEqual({});
});

test("the files with long outputs of a removed session are deleted, and no others", async () => {
  const setup = await setUp();
  const dataDirectory = path.join(setup.root, "data");
  const outputs = path.join(dataDirectory, "tool-output");
  const host = await setup.open({ dataDirectory });
  const { model } = setup;
  const { id: sessionID } = await host.sessions.create();
  const other = await host.sessions.create();
  const write = { tools: [{ name: "bash", input: { command: "seq 1 5000", description: "Count" }, id: "call_a" }] };
  for (const id of [sessionID, other.id]) {
    model.reply(write, { text: "Counted." });
    await run(host, id, "Count");
  }
  expect(existsSync(outputs) && readdirSync(outputs)).toHaveLength(2);
  await host.sessions.remove({ sessionID });
  // Returns when everything of removed sessions is deleted.
  await host.storage.compact();
  expect(readdirSync(outputs)).toHaveLength(1);
  await host.sessions.remove({ sessionID: other.id });
  await host.storage.compact();
  expect(readdirSync(outputs)).toEqual([]);
});
