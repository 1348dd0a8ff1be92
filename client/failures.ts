import { ClientError, isClientError } from "./errors.js";

/** `code` of the cause of a Transport failure if the host in this process is closed. Retries cannot help. */
export const HOST_CLOSED = "HOST_CLOSED";

/** Wraps an error that broke a connection. A ClientError stays as it is. */
export function transportError(error: unknown) {
  return isClientError(error) ? error : new ClientError("Transport", { cause: error });
}

/** Creates a tagged failure: an Error of this realm whose own enumerable properties are exactly `body`. */
export function taggedError(body: Record<string, unknown>): Error {
  const error = new Error(typeof body.message === "string" ? body.message : "");
  // The stack has captured the message by now. Deleting it lets the fields stand in the order of the
  // wire, so that JSON.stringify gives the wire back.
  Reflect.deleteProperty(error, "message");
  for (const key of Object.keys(body)) {
    // Defining, unlike assigning, also works for a field called `__proto__`.
    Object.defineProperty(error, key, { value: body[key], enumerable: true, configurable: true, writable: true });
  }
  return error;
}
