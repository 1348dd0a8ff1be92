import type { ListenOptions, OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { createClient } from "../../index.js";
import { setUpSession } from "./support";

/** A host that listens and has a session, and a network client with the password. */
export async function setUpListener(listen?: ListenOptions, options?: OpenCodeOptions) {
  const setup = await setUpSession(options);
  const listener = await setup.host.listen(listen);
  const client = createClient({ baseUrl: listener.clientUrl });
  return { ...setup, listener, url: listener.url, headers: listener.headers, client };
}

/** The header for a name and its password. */
export function basic(username: string, password: string) {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** Admits prompts that stay pending, each with a text of this size. */
export async function leavePrompts(host: OpenCodeHost, sessionID: string, count: number, bytes: number) {
  const text = "x".repeat(bytes);
  for (let n = 0; n < count; n += 1) await host.sessions.prompt({ sessionID, prompt: { text }, resume: false });
}
