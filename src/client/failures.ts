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
  // The stack has captured the message already. Without `message` the fields are in the order of the wire, so
  // `JSON.stringify` returns the text of the wire.
  Reflect.deleteProperty(error, "message");
  for (const key of Object.keys(body)) {
    // `defineProperty` also works for a field with the name `__proto__`. An assignment does not.
    Object.defineProperty(error, key, { value: body[key], enumerable: true, configurable: true, writable: true });
  }
  return error;
}
