// Only compiled: the types a program of some size needs, under the strictest flags.

import {
  type AssistantPart,
  type ClientErrorReason,
  isClientError,
  isInvalidOptionError,
  isSessionNotFoundError,
  OpenCode,
  type OpenCodeHost,
  type OpenCodeOptions,
  type Page,
  type SessionInfo,
} from "opencode-embedded";
import { createClient, type OpenCodeClient } from "opencode-embedded/client";

const options: OpenCodeOptions = { database: ":memory:", durability: "full", config: { model: "a/b" } };

export async function open(): Promise<OpenCodeHost> {
  return OpenCode.create(options);
}

export async function listAll(opencode: OpenCodeClient): Promise<SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  let page: Page<SessionInfo> = await opencode.sessions.list({ limit: 10, order: "asc" });
  for (;;) {
    sessions.push(...page.items);
    const { next } = await opencode.sessions.list({ limit: 10 });
    if (next === undefined) return sessions;
    page = await opencode.sessions.list({ cursor: next });
  }
}

export async function readText(opencode: OpenCodeHost, sessionID: string, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const event of opencode.sessions.events({ sessionID, after: 3 }, { signal })) {
    if (event.type === "session.next.text.ended") text += event.data.text;
    if (event.type === "session.next.tool.success") text += event.data.content.length;
    if (event.type === "session.next.step.failed") throw new Error(event.data.error.message);
  }
  return text;
}

export function describe(part: AssistantPart): string {
  return part.type === "tool" ? `${part.name} ${part.state.status}` : part.text;
}

export function reasonOf(error: unknown): ClientErrorReason | string | undefined {
  if (isClientError(error)) return error.reason;
  if (isSessionNotFoundError(error)) return error.sessionID;
  if (isInvalidOptionError(error)) return error.option;
  return undefined;
}

export const remote: OpenCodeClient = createClient({
  baseUrl: "http://127.0.0.1:4096",
  headers: { authorization: "x" },
});

// @ts-expect-error: there is no such option.
void OpenCode.create({ databse: ":memory:" });
// @ts-expect-error: a prompt has a session.
void remote.sessions.prompt({ prompt: { text: "" } });
