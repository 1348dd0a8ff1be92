import { ClientError } from "./errors.js";

/** Parses an object. Every body and every event of the contract is an object. */
export function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) throw malformed("JSON that is not an object");
  return value as Record<string, unknown>;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError("MalformedResponse", { cause });
  }
}

export function malformed(message: string) {
  return new ClientError("MalformedResponse", { cause: new Error(message) });
}
