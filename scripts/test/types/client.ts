// The client, also in programs without Node: construction, inputs, options, results.

import * as client from "opencode-embedded/client";
import { createClient } from "opencode-embedded/client";
import type {
  ClientOptions,
  HeadersInput,
  Lines,
  OpenCodeClient,
  Page,
  RequestOptions,
  SessionDurableEvent,
  SessionInfo,
  SessionInputAdmitted,
  SessionMessage,
  SessionsCursor,
} from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

export const clients: OpenCodeClient[] = [
  createClient({ baseUrl: "http://127.0.0.1:4096" }),
  createClient({ baseUrl: "http://host/prefix", headers: { authorization: "Basic x" }, fetch: globalThis.fetch }),
  client.createClient({ baseUrl: "http://host", headers: [["a", "b"]], fetch: async (url) => new Response(url) }),
  createClient({ baseUrl: "http://host", headers: new Headers(), fetch: undefined }),
];

// @ts-expect-error: a client needs an address
createClient({});
// @ts-expect-error: the URL must be text
createClient({ baseUrl: new URL("http://host") });
// @ts-expect-error: unknown setting
createClient({ baseUrl: "http://host", timeout: 1 });
// @ts-expect-error: a header is a text
createClient({ baseUrl: "http://host", headers: { a: 1 } });

// The client entry cannot open a host.
holds<Same<"OpenCode" extends keyof typeof client ? true : false, false>>();
holds<Same<ReturnType<typeof createClient>, OpenCodeClient>>();
holds<Same<Parameters<typeof createClient>, [options: ClientOptions]>>();
holds<Same<RequestOptions["signal"], AbortSignal | null | undefined>>();
holds<Same<RequestOptions["headers"], HeadersInput | undefined>>();

type Sessions = OpenCodeClient["sessions"];

holds<Same<Awaited<ReturnType<Sessions["create"]>>, SessionInfo>>();
holds<Same<Awaited<ReturnType<Sessions["prompt"]>>, SessionInputAdmitted>>();
holds<Same<Awaited<ReturnType<Sessions["context"]>>, SessionMessage[]>>();
holds<Same<Awaited<ReturnType<Sessions["wait"]>>, void>>();
holds<Same<Awaited<ReturnType<Sessions["list"]>>, Page<SessionInfo, SessionsCursor>>>();
holds<Same<ReturnType<Sessions["events"]>, AsyncIterable<SessionDurableEvent>>>();
holds<Same<ReturnType<Sessions["export"]>, AsyncIterable<string>>>();
holds<Same<Parameters<Sessions["import"]>[0], Lines>>();
holds<Same<Awaited<ReturnType<OpenCodeClient["files"]["read"]>>, Uint8Array>>();

export async function inputs(opencode: OpenCodeClient, sessionID: string, signal: AbortSignal): Promise<void> {
  // An operation without input has its options as the first argument. An optional input may be omitted.
  await opencode.health.get({ signal });
  await opencode.sessions.create();
  await opencode.sessions.create(undefined, { headers: { a: "b" } });
  await opencode.sessions.create({ id: undefined, model: { id: "a", providerID: "b" } }, { signal: null });
  await opencode.sessions.prompt({ sessionID, prompt: { text: "Hello" }, delivery: "queue", resume: false });
  await opencode.sessions.revert.clear({ sessionID });
  await opencode.files.read({ path: "src/main.ts", location: { directory: "/w" } });

  // @ts-expect-error: a prompt needs a session
  await opencode.sessions.prompt({ prompt: { text: "" } });
  // @ts-expect-error: unknown delivery
  await opencode.sessions.prompt({ sessionID, prompt: { text: "" }, delivery: "later" });
  // @ts-expect-error: options are not part of the input
  await opencode.sessions.get({ sessionID, signal });
  // @ts-expect-error: this operation has no input
  await opencode.health.get({ sessionID });
  // @ts-expect-error: a file needs a path
  await opencode.files.read({});
  // @ts-expect-error: events are not awaited, they are iterated
  for (const event of opencode.sessions.events({ sessionID })) void event;
  // @ts-expect-error: this operation is not a method
  void opencode.ptys.connect;
  // @ts-expect-error: results are read-only
  (await opencode.sessions.get({ sessionID })).title = "";
}
