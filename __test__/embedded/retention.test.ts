// Old sessions, and the size of the database.

import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { isInvalidRequestError } from "../../index.js";
import { rejection } from "../client/support";
import { setUp } from "./support";

test("old sessions are pruned in several calls, and the newest stay", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await host.sessions.create()).id);
  const child = await host.sessions.create({ parentID: ids[0] as string });
  expect(isInvalidRequestError(await rejection(host.sessions.prune({})))).toBe(true);
  await expect(host.sessions.prune({ olderThan: 0 })).resolves.toEqual({ removed: 0, sessionIDs: [], hasMore: false });
  await host.sessions.update({ sessionID: ids[4] as string, archived: true });
  const pruned = await host.sessions.prune({ archived: false, keepLast: 1 });
  // The child is the newest session, so its parent stays.
  expect([...pruned.sessionIDs].sort()).toEqual(ids.slice(1, 4).sort());
  const left = (await host.sessions.list()).items.map(({ id }) => id);
  expect(left.sort()).toEqual([ids[0], ids[4], child.id].sort());
});

test("the file shrinks after large sessions were removed", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create();
  for (let n = 0; n < 8; n += 1) {
    // The store compresses texts, but not these.
    const text = randomBytes(500_000).toString("hex");
    await host.sessions.prompt({ sessionID, prompt: { text }, resume: false });
  }
  const full = await host.storage.stats();
  expect(full).toMatchObject({ sessions: 1, largest: [{ sessionID, bytes: expect.any(Number) }] });
  expect(full.total + full.log).toBeGreaterThan(8_000_000);
  await host.sessions.remove({ sessionID });
  const { after, shrinks } = await host.storage.compact();
  expect(shrinks).toBe(true);
  expect(after).toBeLessThan(1_000_000);
  await host.close();
  expect(statSync(setup.database).size).toBe(after);
});
