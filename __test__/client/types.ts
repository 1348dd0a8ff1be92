// Compiled, never run: what programs in TypeScript may and may not write.

import { createClient, isClientError, isSessionNotFoundError, isTagged, OpenCode } from "../../index.js";
import type { ClientErrorReason, OpenCodeClient, OpenCodeHost, OpenCodeOptions, Page } from "../../index.js";
import * as browser from "../../client/index.js";

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

export function failures(error: unknown): ClientErrorReason | string | undefined {
  if (isClientError(error)) return error.reason;
  if (isSessionNotFoundError(error)) return error.message;
  if (isTagged(error, "ConflictError")) return error._tag satisfies "ConflictError";
  return undefined;
}

export const options: OpenCodeOptions[] = [
  {},
  { directory: undefined, env: process.env, config: { model: "a/b", agents: { build: { steps: 3 } } } },
  // @ts-expect-error: no such option
  { databse: "x" },
  // @ts-expect-error: no such durability
  { durability: "always" },
  // @ts-expect-error: JSON has no functions
  { config: { model: () => "a/b" } },
];
