import { isClientError, isTagged } from "./errors.js";
import { HOST_CLOSED } from "./failures.js";
import type { EventsRetry } from "./index.js";

/**
 * Returns true if a new attempt may succeed: the connection broke, or a server or gateway is unavailable. Failures of
 * the session or of the request, and unreadable answers, would be the same again.
 */
export function isPassing(failure: unknown): failure is EventsRetry["failure"] {
  if (isTagged(failure, "ServiceUnavailableError")) return true;
  if (!isClientError(failure)) return false;
  const cause = failure.cause as { code?: unknown; status?: unknown } | null | undefined;
  switch (failure.reason) {
    case "Transport":
      // A list is a failure that the server reported in the middle of the stream.
      return !Array.isArray(cause) && cause?.code !== HOST_CLOSED;
    case "UnexpectedStatus":
    case "UnsupportedContentType":
      return isPassingStatus(cause?.status);
    default:
      return false;
  }
}

function isPassingStatus(status: unknown) {
  return typeof status === "number" && (status >= 500 || status === 408 || status === 425 || status === 429);
}

/**
 * The delay before a retry in milliseconds. It doubles with every failure. A random part between half and all of it
 * is used, so that many clients do not retry at the same time.
 *
 * @param failures Failures in a row, from 1 on.
 */
export function retryDelay({ min, max }: { min: number; max: number }, failures: number) {
  const whole = Math.min(max, min * 2 ** (failures - 1));
  return Math.round(whole * (0.5 + Math.random() / 2));
}
