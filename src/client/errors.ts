import type { OpenCodeError } from "./generated/types.js";
import type { ClientErrorReason } from "./types.js";

const SENTENCES: Readonly<Record<ClientErrorReason, string>> = {
  Transport: "The request or its response could not be carried",
  UnexpectedStatus: "The answer has a status the operation does not declare",
  UnsupportedContentType: "The answer has a content type the operation does not declare",
  MalformedResponse: "The answer has a body that cannot be read",
};

/** A call without a declared answer. `reason` classifies the failure, and `cause` has the details. */
export class ClientError extends Error {
  declare readonly name: "ClientError";
  readonly reason: ClientErrorReason;
  declare readonly cause?: unknown;

  constructor(reason: ClientErrorReason, options?: { cause?: unknown }) {
    super(`${SENTENCES[reason]}${detail(options?.cause)}`, options);
    this.reason = reason;
  }
}

// On the prototype, as in the built-in errors, so that `reason` is the only enumerable field.
Object.defineProperty(ClientError.prototype, "name", { value: "ClientError", configurable: true, writable: true });

/** The text of the cause, so that a reader understands the message without the cause. */
function detail(cause: unknown) {
  if (typeof cause !== "object" || cause === null) return "";
  const { message, status, contentType } = cause as Record<string, unknown>;
  const text = [message, contentType, status].find((part) => typeof part === "string" || typeof part === "number");
  return text === undefined || text === "" ? "" : `: ${text}`;
}

/**
 * Returns true if a value is a `ClientError`. It compares `name` and `reason`, so it also recognises errors of another
 * copy of this package and of another realm, for which `instanceof` fails.
 */
export function isClientError(value: unknown): value is ClientError {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Record<string, unknown>).name === "ClientError" &&
    typeof (value as Record<string, unknown>).reason === "string"
  );
}

/** The failure with a tag. A failure that this version does not know has a tag and a message. */
export type Tagged<Tag extends string> = Tag extends OpenCodeError["_tag"]
  ? Extract<OpenCodeError, { readonly _tag: Tag }>
  : { readonly _tag: Tag; readonly message: string };

/**
 * Returns true if a value is the failure with this tag. It compares `_tag` alone.
 *
 * @example
 * ```ts
 * await opencode.sessions.get({ sessionID }).catch((error) => {
 *   if (isTagged(error, "SessionNotFoundError")) return undefined
 *   throw error
 * })
 * ```
 */
export function isTagged<const Tag extends string>(value: unknown, tag: Tag): value is Tagged<Tag> {
  return typeof value === "object" && value !== null && (value as Record<string, unknown>)._tag === tag;
}
