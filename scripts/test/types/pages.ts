// Pages: reading begins with a query and continues with a cursor, which a program cannot construct or confuse.

import type { MessagesCursor, OpenCodeClient, Page, SessionInfo, SessionsCursor } from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

type SessionsPage = Page<SessionInfo, SessionsCursor>;

holds<Same<SessionsPage["items"], readonly SessionInfo[]>>();
// An absent member is missing, never `undefined`.
export const last: SessionsPage = { items: [] };
// @ts-expect-error: a cursor is never undefined
export const undefinedCursor: SessionsPage = { items: [], next: undefined };
// @ts-expect-error: a program cannot construct a cursor
export const madeUp: SessionsCursor = "cursor";
// A cursor is text, so that a program can store it.
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
  // @ts-expect-error: the first item may be missing
  const first: SessionInfo = page.items[0];
  return [...sessions, first];
}

export async function cursorsStandAlone(
  opencode: OpenCodeClient,
  page: SessionsPage,
  sessionID: string,
): Promise<void> {
  if (page.next === undefined) return;
  // @ts-expect-error: a cursor contains its query
  await opencode.sessions.list({ cursor: page.next, limit: 10 });
  // @ts-expect-error: a cursor of another list
  await opencode.sessions.messages({ sessionID, cursor: page.next });
  const messages = await opencode.sessions.messages({ sessionID, limit: 10, order: "desc" });
  if (messages.previous === undefined) return;
  await opencode.sessions.messages({ sessionID, cursor: messages.previous });
  // @ts-expect-error: a cursor needs the session of its messages
  await opencode.sessions.messages({ cursor: messages.previous });
  // @ts-expect-error: a cursor contains its order
  await opencode.sessions.messages({ sessionID, cursor: messages.previous, order: "asc" });
}
