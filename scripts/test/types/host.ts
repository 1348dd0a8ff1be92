// The host: all members of the client, and those that only a host in this process has.

// Resolved like any other import.
import "opencode-embedded"; // oxlint-disable-line import/no-unassigned-import
import { createClient, isInvalidOptionError, OpenCode, resumeEvents } from "opencode-embedded";
import type {
  Durability,
  JsonObject,
  Listener,
  ListenOptions,
  OpenCodeClient,
  OpenCodeHost,
  OpenCodeOptions,
  SessionInfo,
} from "opencode-embedded";
import type * as client from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

// Both entries export the same types.
holds<Same<OpenCodeClient, client.OpenCodeClient>>();
holds<Same<SessionInfo, client.SessionInfo>>();
holds<Same<typeof createClient, typeof client.createClient>>();
holds<Same<OpenCodeHost["fetch"], typeof globalThis.fetch>>();
holds<Same<ReturnType<OpenCodeHost["close"]>, Promise<void>>>();
holds<Same<OpenCodeOptions["durability"], Durability | undefined>>();

export const options: OpenCodeOptions[] = [
  {},
  { directory: undefined, env: process.env, database: ":memory:", durability: "full" },
  { config: { model: "a/b", agents: { build: { steps: 3 } } } satisfies JsonObject },
  { model: "a/b", apiKey: process.env.KEY, baseURL: undefined },
  { recovery: "resume", keepAlive: false, limits: { inbox: 10, steerBatch: undefined } },
  { ptyEnvironment: ({ directory, cwd }) => ({ directory, cwd }) },
  { ptyEnvironment: async () => ({}) },
  // @ts-expect-error: variables are strings
  { ptyEnvironment: () => ({ PORT: 4096 }) },
  // @ts-expect-error: a function without a result
  { ptyEnvironment: () => undefined },
  // @ts-expect-error: unknown option
  { databse: ":memory:" },
  // @ts-expect-error: unknown limit
  { limits: { inbx: 10 } },
  // @ts-expect-error: unknown durability
  { durability: "always" },
  // @ts-expect-error: a model is not a function
  { config: { model: () => "a/b" } },
];

export async function use(): Promise<string> {
  await using opencode: OpenCodeHost = await OpenCode.create({ database: ":memory:" });
  const asClient: OpenCodeClient = opencode;
  const { id: sessionID } = await asClient.sessions.create();
  const response: Response = await opencode.fetch(new Request("http://opencode.local/api/health"));
  const overFetch = createClient({ baseUrl: "http://opencode.local", fetch: opencode.fetch });
  for await (const event of resumeEvents(opencode, { sessionID })) return event.type;
  await overFetch.health.get();
  // @ts-expect-error: a network client has no host to close
  void overFetch.close;
  return response.text();
}

export async function listening(opencode: OpenCodeHost): Promise<Listener> {
  const asked: ListenOptions = {
    port: 0,
    hostname: "127.0.0.1",
    username: "me",
    password: undefined,
    cors: ["https://host"],
  };
  await using listener = await opencode.listen();
  createClient({ baseUrl: listener.clientUrl });
  createClient({ baseUrl: listener.url, headers: listener.headers });
  await fetch(listener.url, { headers: listener.headers });
  const login: (string | undefined)[] = [listener.username, listener.password];
  void login;
  await using open = await opencode.listen({ password: false });
  void open;
  await listener.close();
  // @ts-expect-error: a port is a number
  await opencode.listen({ port: "4096" });
  // @ts-expect-error: unknown setting
  await opencode.listen({ host: "127.0.0.1" });
  // @ts-expect-error: false turns the password off, true is invalid
  await opencode.listen({ password: true });
  // @ts-expect-error: origins are a list
  await opencode.listen({ cors: "*" });
  return opencode.listen(asked);
}

export async function refused(): Promise<string | undefined> {
  const failure: unknown = await OpenCode.create({}).catch((error: unknown) => error);
  return isInvalidOptionError(failure) ? failure.option : undefined;
}

// @ts-expect-error: a host is opened, not constructed
export const constructed = () => new OpenCode();
