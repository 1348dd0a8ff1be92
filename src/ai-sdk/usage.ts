// Reads the token counts of an answer.

import type { ModelUsage } from "../index.js";

type Counts = Readonly<Record<string, unknown>>;

/** Returns the counts of a part `finish`. V2 counts are flat, and those of V3 and V4 are nested. */
export function readUsage(usage: unknown, metadata: Readonly<Record<string, unknown>> | undefined): ModelUsage {
  if (!isCounts(usage)) return {};
  const { inputTokens, outputTokens } = usage;
  if (isCounts(inputTokens) || isCounts(outputTokens)) return readNested(inputTokens, outputTokens);
  const anthropic = metadata?.["anthropic"];
  const raw = isCounts(anthropic) && isCounts(anthropic["usage"]) ? anthropic["usage"] : {};
  return readFlat(usage, raw);
}

function readNested(input: unknown, output: unknown): ModelUsage {
  const counts = isCounts(input) ? input : {};
  const written = isCounts(output) ? output : {};
  const cacheReadTokens = count(counts["cacheRead"]);
  const cacheWriteTokens = count(counts["cacheWrite"]);
  return {
    inputTokens: count(counts["total"]) ?? sum(count(counts["noCache"]), cacheReadTokens, cacheWriteTokens),
    outputTokens: count(written["total"]) ?? sum(count(written["text"]), count(written["reasoning"])),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(written["reasoning"]),
  };
}

/** @param raw The counts of Anthropic, whose input in V2 is without the cached part. */
function readFlat(usage: Counts, raw: Counts): ModelUsage {
  const read = count(raw["cache_read_input_tokens"]);
  const written = count(raw["cache_creation_input_tokens"]);
  return {
    inputTokens: sum(count(usage["inputTokens"]), read, written),
    outputTokens: count(usage["outputTokens"]),
    cacheReadTokens: read ?? count(usage["cachedInputTokens"]),
    cacheWriteTokens: written,
    reasoningTokens: count(usage["reasoningTokens"]),
    ...(read === undefined && written === undefined ? { totalTokens: count(usage["totalTokens"]) } : {}),
  };
}

/** Returns undefined if no count is known. */
function sum(...counts: (number | undefined)[]) {
  const known = counts.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}

function count(value: unknown) {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function isCounts(value: unknown): value is Counts {
  return typeof value === "object" && value !== null;
}
