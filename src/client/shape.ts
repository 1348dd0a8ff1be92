// Suggestions for inputs of a wrong form.

import { taggedError } from "./failures.js";
import type { Input, Operation } from "./operation.js";

/** Longest text of a caller that a failure shows, in UTF-16 code units. */
const MAX_SHOWN = 60;

/** Throws `InvalidRequestError` if the input is not an object, as in `sessions.get("ses_1")`. */
export function checkShape(operation: Operation, input: unknown): asserts input is Input {
  if (typeof input === "object" && !Array.isArray(input)) return;
  const [field] = params(operation);
  const kind = Array.isArray(input) ? "an array" : `a ${typeof input}`;
  const right = field === undefined ? "{ ... }" : `{ ${field}: ${show(input)} }`;
  const { name } = operation;
  throw invalidRequest(`${name} takes an object, got ${kind}: write ${name}(${right})`, field);
}

/** The members that are part of the path. */
export function params({ path }: Operation): string[] {
  return path.flatMap((part) => (typeof part === "string" ? [] : "param" in part ? part.param : part.rest));
}

function show(value: unknown) {
  return typeof value === "string" && value.length <= MAX_SHOWN ? JSON.stringify(value) : "...";
}

export function invalidRequest(message: string, field: string | undefined) {
  return taggedError({ _tag: "InvalidRequestError", message, ...(field === undefined ? {} : { field }) });
}
