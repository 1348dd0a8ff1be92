// Titles, parents, permission rules and the archive of sessions.

import { isInvalidRequestError, isSessionNotFoundError } from "../../index.js";
import { rejection } from "../client/support";
import { readUntil, setUpSession, subscribe } from "./support";

test("a session gets its title, parent and rules at its creation", async () => {
  const { setup, host } = await setUpSession();
  const parent = await host.sessions.create({
    title: "Fix the parser",
    permission: [{ action: "bash", resource: "*", effect: "deny" }],
  });
  const child = await host.sessions.create({ parentID: parent.id });
  expect(parent.title).toBe("Fix the parser");
  expect(child).toMatchObject({ parentID: parent.id, title: expect.stringMatching(/^Child session - /) });
  await expect(host.sessions.children({ sessionID: parent.id })).resolves.toEqual([child]);
  await host.close();
  const again = await setup.open();
  const decide = async (sessionID: string, action: string) =>
    (await again.permissions.create({ sessionID, action, resources: ["ls"] })).effect;
  expect(await decide(parent.id, "bash")).toBe("deny");
  expect(await decide(child.id, "bash")).toBe("allow");
});

test("an update returns the session and announces it once", async () => {
  const { host, sessionID } = await setUpSession();
  const live = await subscribe(host);
  const updated = await host.sessions.update({ sessionID, title: "Parsers", archived: true });
  expect(updated).toMatchObject({ title: "Parsers", time: { archived: expect.any(Number) } });
  await expect(host.sessions.update({ sessionID, archived: true })).resolves.toEqual(updated);
  await expect(host.sessions.get({ sessionID })).resolves.toEqual(updated);
  await host.sessions.switchAgent({ sessionID, agent: "plan" });
  const events = await readUntil(live, "session.next.agent.switched");
  const announced = events.filter(({ type }) => type === "session.updated");
  expect(announced).toMatchObject([{ durable: { aggregateID: sessionID }, data: { info: { title: "Parsers" } } }]);
});

test("lists select archived sessions, roots and children", async () => {
  const { host, sessionID } = await setUpSession();
  const child = await host.sessions.create({ parentID: sessionID, title: "Search" });
  const other = await host.sessions.create();
  await host.sessions.update({ sessionID: other.id, archived: true });
  type Filter = { archived?: boolean; roots?: boolean; parentID?: string; search?: string };
  const list = async (filter: Filter) => {
    const ids: string[] = [];
    for await (const { id } of host.sessions.list({ limit: 1, ...filter })) ids.push(id);
    return ids.sort();
  };
  expect(await list({})).toEqual([sessionID, child.id, other.id].sort());
  expect(await list({ archived: true })).toEqual([other.id]);
  expect(await list({ archived: false })).toEqual([sessionID, child.id].sort());
  expect(await list({ roots: true })).toEqual([sessionID, other.id].sort());
  expect(await list({ roots: true, archived: false })).toEqual([sessionID]);
  expect(await list({ parentID: sessionID })).toEqual([child.id]);
  expect(await list({ search: "sEAr" })).toEqual([child.id]);
});

test("wrong fields are refused by name, and nothing is stored", async () => {
  const { host, session, sessionID } = await setUpSession();
  const rule = { action: "", resource: "", effect: "deny" as const };
  for (const [input, field] of [
    [{ title: "" }, "title"],
    [{ title: "a\0b" }, "title"],
    [{ title: "x".repeat(2000) }, "title"],
    [{ permission: [rule] }, "permission"],
    [{ permission: Array.from({ length: 300 }, () => ({ ...rule, action: "a", resource: "*" })) }, "permission"],
  ] as const) {
    for (const call of [
      host.sessions.create(input as object),
      host.sessions.update({ sessionID, ...(input as object) }),
    ]) {
      const error = await rejection(call);
      expect(isInvalidRequestError(error) && error.field).toBe(field);
    }
  }
  const orphan = await rejection(host.sessions.create({ parentID: "ses_none" }));
  expect(isSessionNotFoundError(orphan) && orphan.sessionID).toBe("ses_none");
  const { items } = await host.sessions.list();
  expect(items).toEqual([session]);
});
