import { addCredentials, basicAuthorization } from "../client/credentials.js";
import { encodeJson } from "../client/request.js";
import { checkRecord } from "./checks.js";
import { asyncDisposable } from "./disposable.js";
import { listenOptions } from "./generated/checks.js";
import type { Listener, ListenOptions } from "../index.js";
import type { NativeConnection } from "./connection.js";

/** Answers the requests of network clients with this host. */
export async function listen(connection: NativeConnection, given: ListenOptions | undefined): Promise<Listener> {
  const native = await connection.listen(encodeJson(checkRecord(given, listenOptions)));
  const { url, username, password } = native;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= connection.closeListener(native));
  const isOpen = username === null || password === null;
  const secrets: Pick<Listener, "password" | "headers" | "clientUrl"> = {
    password: password ?? undefined,
    headers: Object.freeze(isOpen ? {} : { authorization: basicAuthorization(username, password) }),
    clientUrl: isOpen ? url : addCredentials(url, username, password),
  };
  return hide(asyncDisposable({ url, username: username ?? undefined, close }, close), secrets);
}

/** Adds members that are not enumerable: a listener that is printed or serialised does not show them. */
function hide<T extends object, S extends object>(target: T, secrets: S): T & S {
  for (const [name, value] of Object.entries(secrets)) Object.defineProperty(target, name, { value });
  return target as T & S;
}
