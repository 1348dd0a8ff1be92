// After any single bad turn, or any change of the configuration, the next request is valid and the next good answer completes.
//
// `BAD_TURNS` is the number of cases for each protocol, and `BAD_TURNS_SEED` the first seed. A failure names the seed of
// its case.

import type { OpenCodeHost, OpenCodeOptions, SessionMessage } from "../../index.js";
import { findDifferences } from "../embedded/bodies";
import { readMessages, setUp, type Setup } from "../embedded/support";
import { createRandom, pick, type Random } from "../random.js";
import { damage, mutate } from "./mutations";
import { RESULTS } from "./results";
import { PROTOCOLS } from "./streams";

const CASES = Number(process.env["BAD_TURNS"] ?? 50);
/** The number of cases that wait for a server or read a project again: at least 50, or a fiftieth of `BAD_TURNS`. */
export const SLOW_CASES = Math.min(CASES, Math.max(50, Math.ceil(CASES / 50)));
const FIRST_SEED = Number(process.env["BAD_TURNS_SEED"] ?? 1);

/** Sessions that one host runs at the same time. */
const AT_ONCE = 4;

const OPTIONS: OpenCodeOptions = {
  permissions: { unanswered: "deny" },
  retry: { maxAttempts: 2, maxDelayMs: 1 },
};
/** Nothing outside of the folder of the test is touched, whatever a changed answer calls. */
export const PERMISSION = {
  bash: "deny",
  task: "deny",
  webfetch: "deny",
  websearch: "deny",
  external_directory: "deny",
} as const;

jest.setTimeout(4 * 60 * 60_000);

export interface Case {
  readonly seed: number;
  readonly random: Random;
  readonly setup: Setup;
  readonly host: OpenCodeHost;
}

interface RunOptions {
  /** The number of cases. Default: `BAD_TURNS`. */
  readonly cases?: number;
  /** Prepares a project, and returns more options of its host. */
  readonly prepare?: (setup: Setup) => Promise<OpenCodeOptions>;
}

/** Runs cases with consecutive seeds in several hosts. Each has a model of its own, so replies reach their session. */
export async function runCases(
  npm: string,
  check: (one: Case) => Promise<string[]>,
  { cases = CASES, prepare = async () => ({}) }: RunOptions = {},
) {
  let next = FIRST_SEED;
  const failures: string[] = [];
  const runner = async () => {
    const setup = await setUp();
    setup.sendsOddBodies = true;
    setup.write("a.txt", "alpha\n");
    const config = { ...setup.model.config({}, npm), permission: PERMISSION };
    const host = await setup.open({ ...OPTIONS, config, ...(await prepare(setup)) });
    registerOddTool(host);
    while (next < FIRST_SEED + cases && failures.length < 10) {
      const seed = next;
      next += 1;
      // The first numbers of neighbouring seeds are alike.
      const random = createRandom(Math.imul(seed, 2_654_435_761));
      for (let skipped = 0; skipped < 3; skipped += 1) random();
      const problems = await check({ seed, random, setup, host });
      if (problems.length > 0) failures.push(`seed ${seed}: ${problems.join("\n  ")}`);
    }
    await host.close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
  expect({ failures, ran: next - FIRST_SEED }).toEqual({ failures: [], ran: cases });
}

/** The result of the tool `odd`. */
export const oddResults = new WeakMap<OpenCodeHost, unknown>();

function registerOddTool(host: OpenCodeHost) {
  host.tools.register({
    name: "odd",
    description: "Returns odd values.",
    input: { type: "object", properties: { path: { type: "string" } } },
    execute: () => oddResults.get(host) as never,
  });
}

/** Prompts twice, and returns what is wrong with the requests and with the second answer. */
export async function promptTwice(
  { setup, host }: Case,
  act: (sessionID: string) => Promise<unknown>,
): Promise<string[]> {
  const { model } = setup;
  const { id: sessionID } = await host.sessions.create({});
  await act(sessionID);
  await host.sessions.wait({ sessionID });
  model.reply({ text: "Good." });
  await host.sessions.prompt({ sessionID, prompt: { text: "Go on" } });
  await host.sessions.wait({ sessionID });
  // A changed answer may have any signature.
  const problems = model.violations.splice(0).filter((problem) => !problem.endsWith(": unsigned thought"));
  for (const { path, body } of model.requests.splice(0)) problems.push(...findDifferences(path, body));
  problems.push(...findOpenParts(await readMessages(host, sessionID)));
  await host.sessions.remove({ sessionID });
  return problems;
}

/** Calls without an end, and a last answer that is not the good one. */
export function findOpenParts(messages: readonly SessionMessage[]) {
  const again = messages.findLastIndex((message) => message.type === "user" && message.text === "Go on");
  if (again < 0) return [`no message has the second prompt: ${JSON.stringify(messages)}`];
  const answers = messages.flatMap((message) => (message.type === "assistant" ? [message] : []));
  const open = answers.flatMap(({ content }) =>
    content.flatMap((part) =>
      part.type === "tool" && part.state.status !== "completed" && part.state.status !== "error"
        ? [`the call ${part.id} is ${part.state.status}`]
        : [],
    ),
  );
  const last = messages.slice(again).findLast((message) => message.type === "assistant");
  const text = last?.content.map((part) => (part.type === "text" ? part.text : part.type)).join("");
  const isGood = last?.finish === "stop" && text === "Good.";
  return isGood ? open : [...open, `the last answer is ${JSON.stringify(last)}`];
}

/** Defines the tests of these protocols. Each file of tests has some, because files run side by side. */
export function testAnswers(protocols: readonly string[]) {
  test.each(protocols)("%s: a session goes on after any answer", async (name) => {
    const { npm, answers, write } = PROTOCOLS[name]!;
    await runCases(npm, async (one) => {
      const { random, setup, host } = one;
      const answer = pick(random, answers);
      const frames = mutate(random, answer);
      oddResults.set(host, pick(random, RESULTS));
      const problems = await promptTwice(one, (sessionID) => {
        setup.model.reply({ raw: damage(random, write(frames)) });
        return host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
      });
      return problems.length === 0 ? [] : [...problems, JSON.stringify(frames).slice(0, 4000)];
    });
  });
}
