// Shared code of the programs of this folder.

import path from "node:path";
import { OpenCode, type OpenCodeClient, type OpenCodeHost, type OpenCodeOptions } from "opencode-embedded";

/** A check and its name. */
export type Check = readonly [name: string, check: () => Promise<void>];

/** The directory in which the sessions of these programs work. */
export const directory = path.resolve("workspace");

/** Opens a host whose model is the scripted one. */
export function open(options?: OpenCodeOptions): Promise<OpenCodeHost> {
  return OpenCode.create({
    directory,
    database: ":memory:",
    config: JSON.parse(process.env.CONFIG ?? "{}"),
    ...options,
  });
}

/** Prompts in a new session and waits until it is idle. */
export async function converse(client: OpenCodeClient, text: string): Promise<string> {
  const { id: sessionID } = await client.sessions.create();
  await client.sessions.prompt({ sessionID, prompt: { text } });
  await client.sessions.wait({ sessionID });
  return sessionID;
}

/** Reads up to and including the first event of a type. */
export async function readUntil<Event extends { type: string }>(events: AsyncIterator<Event>, type: Event["type"]) {
  const read: Event[] = [];
  while (read.at(-1)?.type !== type) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The stream ended before ${type}`);
    read.push(value);
  }
  return read;
}

/** The states of the calls in a session. */
export async function readToolStates(client: OpenCodeClient, sessionID: string) {
  const messages = await client.sessions.context({ sessionID });
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.flatMap((part) => (part.type === "tool" ? [part.state] : []));
}

/** The message of an error with its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.stack ?? error.message}` : String(error);
}
