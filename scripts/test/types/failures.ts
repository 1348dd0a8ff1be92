// Failures: `unknown` until a guard has checked them.

import {
  ClientError,
  isClientError,
  isConflictError,
  isMessageNotFoundError,
  isSessionBacklogError,
  isSessionMessageNotFoundError,
  isSessionNotFoundError,
  isTagged,
} from "opencode-embedded/client";
import type {
  ClientErrorReason,
  MessageNotFoundError,
  OpenCodeError,
  SessionMessageNotFoundError,
  SessionNotFoundError,
} from "opencode-embedded/client";
import { holds, type Same } from "./assert.js";

holds<Same<SessionMessageNotFoundError, MessageNotFoundError>>();
holds<Same<string extends OpenCodeError["_tag"] ? true : false, false>>();
holds<Same<ClientError["reason"], ClientErrorReason>>();
holds<Same<ClientError["name"], "ClientError">>();

export function explain(error: unknown): string {
  // @ts-expect-error: the type is unknown
  void error._tag;
  if (isClientError(error)) return `${error.reason satisfies ClientErrorReason} ${String(error.cause)}`;
  if (isSessionNotFoundError(error)) return error.sessionID;
  if (isConflictError(error)) return error.resource ?? error.message;
  if (isSessionBacklogError(error)) return `${error.pending} of ${error.limit satisfies number}`;
  if (isMessageNotFoundError(error) || isSessionMessageNotFoundError(error)) return error.messageID;
  if (isTagged(error, "ProviderNotFoundError")) return error.providerID;
  if (isTagged(error, "SomethingNewError")) return error._tag satisfies "SomethingNewError";
  return "";
}

export function byTag(error: unknown): void {
  if (isTagged(error, "SessionNotFoundError")) {
    holds<Same<typeof error, SessionNotFoundError>>();
    const real: Error = error;
    void real.stack;
    // @ts-expect-error: this failure has no message id
    void error.messageID;
  }
}

export function narrow(error: OpenCodeError): string | undefined {
  switch (error._tag) {
    case "SessionNotFoundError":
      return error.sessionID;
    case "InvalidRequestError":
      return error.kind;
    // @ts-expect-error: unknown tag
    case "NoSuchError":
      return "";
    default:
      return error.message;
  }
}

// @ts-expect-error: unknown reason
export const wrong = new ClientError("Timeout");
export const right = new ClientError("Transport", { cause: 1 });
