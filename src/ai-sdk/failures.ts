// Describes failures of the AI SDK as events.

import type { ModelErrorKind, ModelEvent } from "../index.js";

type ErrorEvent = Extract<ModelEvent, { type: "error" }>;

/** The kinds of failures that the AI SDK reports by the name of the error. */
const KINDS: Readonly<Record<string, ModelErrorKind>> = {
  AI_LoadAPIKeyError: "auth",
  AI_LoadSettingError: "invalid-request",
  AI_InvalidArgumentError: "invalid-request",
  AI_InvalidPromptError: "invalid-request",
  AI_NoSuchModelError: "invalid-request",
  AI_UnsupportedFunctionalityError: "invalid-request",
  AI_EmptyResponseBodyError: "invalid-output",
  AI_InvalidResponseDataError: "invalid-output",
  AI_JSONParseError: "invalid-output",
  AI_TypeValidationError: "invalid-output",
};

/** Returns the event for an error that a model has thrown, or undefined for an error that is not of the AI SDK. */
export function describeThrown(error: unknown): ErrorEvent | undefined {
  if (!isObject(error)) return undefined;
  const { name, statusCode } = error;
  if (name === "AI_APICallError") {
    return typeof statusCode === "number" ? describeResponse(error, statusCode) : event(error, "transport");
  }
  const kind = typeof name === "string" ? KINDS[name] : undefined;
  return kind === undefined ? undefined : event(error, kind);
}

/** Returns the event for the error of a part `error`, which can be any value. */
export function describeReported(error: unknown): ErrorEvent {
  const thrown = describeThrown(error);
  if (thrown !== undefined) return thrown;
  if (!isObject(error)) return { type: "error", message: String(error) };
  // Some providers wrap the error of their server.
  const inner = isObject(error["error"]) ? error["error"] : error;
  const code = [inner["code"], inner["type"]].find(isCode);
  return { ...event(inner), ...(code === undefined ? {} : { code: String(code) }) };
}

function describeResponse(error: Record<string, unknown>, status: number): ErrorEvent {
  const { responseHeaders, responseBody, url } = error;
  const headers = isObject(responseHeaders) ? Object.entries(responseHeaders) : [];
  return {
    ...event(error),
    response: {
      status,
      headers: Object.fromEntries(
        headers.filter((header): header is [string, string] => typeof header[1] === "string"),
      ),
      body: typeof responseBody === "string" ? responseBody : "",
      url: typeof url === "string" ? url : "",
    },
  };
}

function event(error: Record<string, unknown>, kind?: ModelErrorKind): ErrorEvent {
  const { message } = error;
  const text = typeof message === "string" && message !== "" ? message : shorten(error);
  return { type: "error", message: text, ...(kind === undefined ? {} : { kind }) };
}

function shorten(error: object) {
  try {
    return JSON.stringify(error).slice(0, 1_000);
  } catch {
    return "The provider reported an error without a message";
  }
}

/** The type `error` says nothing. */
function isCode(code: unknown): code is string | number {
  return typeof code === "number" || (typeof code === "string" && code !== "" && code !== "error");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
