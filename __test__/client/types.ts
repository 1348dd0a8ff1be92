// Compiled, never run: code that TypeScript programs may and may not contain.

import { createClient, isClientError, isSessionNotFoundError, isTagged, OpenCode } from "../../index.js";
import type { ClientErrorReason, OpenCodeClient, OpenCodeHost, OpenCodeOptions, Page } from "../../index.js";
import * as browser from "../../dist/client/index.js";

export async function embedded(): Promise<void> {
  await using opencode: OpenCodeHost = await OpenCode.create({ directory: "/project", database: ":memory:" });
  const session = await opencode.sessions.create();
  await opencode.sessions.prompt(
    { sessionID: session.id, prompt: { text: "Hello" } },
    { signal: AbortSignal.timeout(1) },
  );
  for await (const event of opencode.sessions.events({ sessionID: session.id })) {
    if (event.type === "session.next.step.ended" && event.data.finish === "stop") break;
  }
  const response: Response = await opencode.fetch(new Request("http://opencode.local/api/health"));
  await response.text();
  await opencode.close();
}

export async function network(client: OpenCodeClient): Promise<string | undefined> {
  const page = await client.sessions.list({ limit: 10 });
  const items: Page<unknown> = page;
  void items;
  return page.next;
}

export function clients(): OpenCodeClient[] {
  return [
    createClient({ baseUrl: "http://host", headers: { authorization: "Basic" } }),
    browser.createClient({ baseUrl: "http://host", headers: [["a", "b"]], fetch: async (url) => new Response(url) }),
    browser.createClient({ baseUrl: "http://host", headers: new Headers(), fetch: globalThis.fetch }),
  ];
}

export async function copied(from: OpenCodeClient, to: OpenCodeHost, sessionID: string): Promise<number> {
  const lines: AsyncIterable<string> = from.sessions.export({ sessionID });
  const { session, applied, skipped } = await to.sessions.import(lines, { signal: AbortSignal.timeout(1) });
  await to.sessions.import(["{}"]);
  await to.sessions.import("{}\n");
  // @ts-expect-error: bytes are not lines
  await to.sessions.import([new Uint8Array()]);
  // @ts-expect-error: the lines are the input
  await to.sessions.import({ lines: [] });
  await to.sessions.resume({ sessionID: session.id });
  return applied + skipped;
}

export async function waiting(client: OpenCodeClient, sessionID: string): Promise<string[]> {
  const inbox = await client.sessions.inbox.list({ sessionID });
  for (const { id: messageID, delivery } of inbox) {
    if (delivery === "queue") await client.sessions.inbox.setDelivery({ sessionID, messageID, delivery: "steer" });
    else await client.sessions.inbox.withdraw({ sessionID, messageID });
  }
  // @ts-expect-error: unknown delivery
  await client.sessions.inbox.setDelivery({ sessionID, messageID: "msg_1", delivery: "later" });
  const interrupted = await client.sessions.interrupted();
  return interrupted.filter(({ state }) => state === "step-open").map((session) => session.sessionID);
}

export function failures(error: unknown): ClientErrorReason | string | undefined {
  if (isClientError(error)) return error.reason;
  if (isSessionNotFoundError(error)) return error.message;
  if (isTagged(error, "ConflictError")) return error._tag satisfies "ConflictError";
  return undefined;
}

export const options: OpenCodeOptions[] = [
  {},
  { directory: undefined, env: process.env, config: { model: "a/b", agents: { build: { steps: 3 } } } },
  // @ts-expect-error: unknown option
  { databse: "x" },
  { recovery: "resume", keepAlive: false, limits: { inbox: 10, steerBatch: undefined } },
  // @ts-expect-error: unknown limit
  { limits: { inbx: 10 } },
  // @ts-expect-error: unknown durability
  { durability: "always" },
  { model: "a/b", apiKey: process.env.KEY, baseURL: undefined },
  // @ts-expect-error: a model is not a function
  { config: { model: () => "a/b" } },
  // @ts-expect-error: unknown key
  { config: { modle: "a/b" } },
];
