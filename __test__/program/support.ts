import type { AssistantPartTool, OpenCodeHost } from "../../index.js";
import type { Reply } from "../../testkit/reply.js";
import { readMessages, run, setUpSession } from "../embedded/support";

export { readHistory, readMessages, readUntil, run, setUp, setUpSession, subscribe } from "../embedded/support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

/** Lets the model call tools, and returns the results that it receives. */
export async function callTools(started: Started, ...tools: NonNullable<Reply["tools"]>): Promise<string[]> {
  const { host, model, sessionID } = started;
  const before = model.requests.length;
  model.reply({ tools }, { text: "Done." });
  await run(host, sessionID, "Use your tools");
  const { body } = await model.received(before + 2);
  const results: { role: string; content: string }[] = body.messages;
  return results
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content)
    .slice(-tools.length);
}

/** The message in the failure of a call, as the model receives it. */
export function failure(result: string | undefined): string {
  return JSON.parse(result ?? "").error.message;
}

/** The tool calls of a session, oldest first. */
export async function readCalls(host: OpenCodeHost, sessionID: string): Promise<AssistantPartTool[]> {
  const messages = await readMessages(host, sessionID);
  return messages
    .flatMap((message) => (message.type === "assistant" ? message.content : []))
    .filter((part): part is AssistantPartTool => part.type === "tool");
}

/** A promise that the test resolves. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}
