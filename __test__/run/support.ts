import { createClient } from "../../index.js";
import type { OpenCodeClient, OpenCodeOptions, RunInput, RunPart, RunResult, SessionRun } from "../../index.js";
import { setUp, type Setup } from "../embedded/support";

export { numbered, readHistory, readTranscript } from "../embedded/support";

/** The two transports to a host. A run consists of public operations, so it behaves the same in both. */
export const WAYS = ["in memory", "over the network"] as const;

export type Way = (typeof WAYS)[number];

/** A host with a scripted model, and a client of it. */
export async function setUpClient(way: Way, options?: OpenCodeOptions) {
  const setup: Setup = await setUp();
  const host = await setup.open(options);
  const client: OpenCodeClient =
    way === "in memory" ? host : createClient({ baseUrl: (await host.listen()).clientUrl });
  return { setup, model: setup.model, host, client };
}

/** Everything that a run yields. */
export async function readParts(run: SessionRun) {
  const parts: RunPart[] = [];
  for await (const part of run) parts.push(part);
  return parts;
}

/** The parts of one type. */
export function ofType<Type extends RunPart["type"]>(parts: readonly RunPart[], type: Type) {
  return parts.filter((part): part is Extract<RunPart, { type: Type }> => part.type === type);
}

/** The text that was streamed. */
export function streamedText(parts: readonly RunPart[]) {
  return ofType(parts, "text")
    .map(({ text }) => text)
    .join("");
}

/** Reads up to and including the first part that satisfies the predicate. */
export async function readUntil(parts: AsyncIterator<RunPart>, fits: (part: RunPart) => boolean) {
  const read: RunPart[] = [];
  for (;;) {
    const { done, value } = await parts.next();
    if (done) throw new Error(`The run ended after ${read.map(({ type }) => type).join(", ")}`);
    read.push(value);
    if (fits(value)) return read;
  }
}

/** Runs a prompt to its end. Returns its parts and its result. */
export async function finish(
  client: OpenCodeClient,
  input: RunInput,
): Promise<{ parts: RunPart[]; result: RunResult }> {
  const run = client.sessions.run(input);
  const [parts, result] = await Promise.all([readParts(run), run.result]);
  expect(parts.at(-1)).toEqual({ type: "end", result });
  return { parts, result };
}
