// Pages: a walk begins with a query and goes on with a cursor, which nobody can make up or mistake.

import type { MessagesCursor, OpenCodeClient, Page, SessionInfo, SessionsCursor } from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

type SessionsPage = Page<SessionInfo, SessionsCursor>;

holds<Same<SessionsPage["items"], readonly SessionInfo[]>>();
// What is absent is not there, and never `undefined`.
export const last: SessionsPage = { items: [] };
// @ts-expect-error: a cursor that is there is a cursor
export const undefinedCursor: SessionsPage = { items: [], next: undefined };
// @ts-expect-error: nobody makes cursors up
export const madeUp: SessionsCursor = "cursor";
// A cursor is text all the same, to be kept somewhere.
export const text = (cursor: SessionsCursor): string => cursor;
// @ts-expect-error: a cursor belongs to its list
export const other = (cursor: MessagesCursor): SessionsCursor => cursor;

export async function listAll(opencode: OpenCodeClient): Promise<SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  let page: SessionsPage = await opencode.sessions.list({ limit: 10, order: "asc" });
  while (page.next !== undefined) {
    sessions.push(...page.items);
    page = await opencode.sessions.list({ cursor: page.next });
  }
  // @ts-expect-error: there may be no first item
  const first: SessionInfo = page.items[0];
  return [...sessions, first];
}

export async function cursorsStandAlone(
  opencode: OpenCodeClient,
  page: SessionsPage,
  sessionID: string,
): Promise<void> {
  if (page.next === undefined) return;
  // @ts-expect-error: a cursor carries its query
  await opencode.sessions.list({ cursor: page.next, limit: 10 });
  // @ts-expect-error: a cursor of another list
  await opencode.sessions.messages({ sessionID, cursor: page.next });
  const messages = await opencode.sessions.messages({ sessionID, limit: 10, order: "desc" });
  if (messages.previous === undefined) return;
  await opencode.sessions.messages({ sessionID, cursor: messages.previous });
  // @ts-expect-error: a cursor does not say whose messages
  await opencode.sessions.messages({ cursor: messages.previous });
  // @ts-expect-error: a cursor carries its order
  await opencode.sessions.messages({ sessionID, cursor: messages.previous, order: "asc" });
}
