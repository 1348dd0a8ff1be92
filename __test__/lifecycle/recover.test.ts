// Tools of the program whose process is killed in the middle of a call.

import fs from "node:fs";
import path from "node:path";
import type { OpenCodeHost, ToolRecoveryContext } from "../../index.js";
import { readHistory, readUntil, setUp } from "../embedded/support";
import type { Setup } from "../embedded/support";
import { deferred, readCalls } from "../program/support";
import { Child } from "./child";

const sessionID = "ses_victim";

/** Lets a process run the session up to a point, or to its end. */
async function live(setup: Setup, life: { recovers: boolean; isFirst: boolean; dieAt?: string }) {
  const child = new Child("recovering", { options: setup.options(), effects: effectsOf(setup), ...life });
  const ended = await child.exited;
  expect(child.errors).toBe("");
  return { ended, points: child.lines.flatMap(({ line, point }) => (line === "point" ? [point] : [])) };
}

function effectsOf(setup: Setup) {
  return path.join(setup.directory, "effects");
}

function readEffects(setup: Setup) {
  const file = effectsOf(setup);
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
}

const CALL = { tools: [{ name: "pay", input: { to: "Ada" }, id: "call_a" }] };

/** Every point of a run that is not killed. */
const POINTS = [
  "prompt.admitted",
  "prompted",
  "step.started",
  "tool.input.started",
  "tool.input.ended",
  "tool.called",
  "execute",
  "effect",
  "tool.success",
  "step.ended",
  "text.started",
  "text.ended",
];

/** Returns the call and the numbers of its records in the history. */
async function readCall(setup: Setup) {
  const host = await setup.open();
  const history = await readHistory(host, sessionID);
  const count = (type: string) => history.filter((event) => event.type === `session.next.${type}`).length;
  const [call] = await readCalls(host, sessionID);
  const settled = count("tool.success") + count("tool.failed");
  return { call, begun: count("tool.input.started"), called: count("tool.called"), settled };
}

test("a run without a kill passes all points", async () => {
  const setup = await setUp();
  setup.model.reply(CALL, { text: "Done." });
  const { ended, points } = await live(setup, { recovers: true, isFirst: true });
  expect(ended).toBe(0);
  expect([...new Set(points)].sort()).toEqual([...POINTS].sort());
  expect(readEffects(setup)).toHaveLength(1);
});

test.each(POINTS)("a tool with recover has its effect once if its process is killed at %s", async (dieAt) => {
  const setup = await setUp();
  setup.model.reply(CALL, { text: "Done." });
  expect((await live(setup, { recovers: true, isFirst: true, dieAt })).ended).toBe("SIGKILL");
  expect((await live(setup, { recovers: true, isFirst: false })).ended).toBe(0);
  const { call, begun, called, settled } = await readCall(setup);
  const effects = readEffects(setup);
  expect(new Set(effects).size).toBe(effects.length);
  // A call whose arguments are not recorded has no effect and fails.
  expect([effects.length, settled]).toEqual([called, begun]);
  if (called > 0) expect(call?.state).toMatchObject({ status: "completed" });
});

test.each(["recover", "recovered", "execute", "effect", "tool.success", "step.started"])(
  "a tool with recover has its effect once if its second process is killed at %s",
  async (dieAt) => {
    const setup = await setUp();
    setup.model.reply(CALL, { text: "Done." }, { text: "Done." });
    const first = await live(setup, { recovers: true, isFirst: true, dieAt: "tool.called" });
    expect(first.ended).toBe("SIGKILL");
    // The event of the call reaches the program after the call of its function, so the effect may exist already.
    await live(setup, { recovers: true, isFirst: false, dieAt });
    expect((await live(setup, { recovers: true, isFirst: false })).ended).toBe(0);
    const { call, called, settled } = await readCall(setup);
    expect([readEffects(setup).length, called, settled]).toEqual([1, 1, 1]);
    expect(call?.state).toMatchObject({ status: "completed" });
  },
);

test.each(POINTS)("a tool without recover never has its effect twice if its process is killed at %s", async (dieAt) => {
  const setup = await setUp();
  setup.model.reply(CALL, { text: "Done." });
  expect((await live(setup, { recovers: false, isFirst: true, dieAt })).ended).toBe("SIGKILL");
  expect((await live(setup, { recovers: false, isFirst: false })).ended).toBe(0);
  const { call, begun, called, settled } = await readCall(setup);
  expect(settled).toBe(begun);
  expect(readEffects(setup).length).toBeLessThanOrEqual(called);
  const isOpen = ["tool.called", "execute", "effect"].includes(dieAt);
  if (isOpen && call?.state.status === "error") {
    expect(call.state.error).toMatchObject({ message: "Tool execution interrupted" });
  }
});

/** Leaves an open call of the tool `pay`, whose effect exists. */
async function leaveOpenCall() {
  const setup = await setUp();
  setup.model.reply(CALL, { text: "Done." });
  await live(setup, { recovers: true, isFirst: true, dieAt: "effect" });
  return setup;
}

const PAY = {
  name: "pay",
  description: "Pays once.",
  input: { type: "object" },
  execute: () => "Paid again",
} as const;

test.each<[name: string, recover: (input: any, context: ToolRecoveryContext) => any, expected: string]>([
  ["done", (input, { callID }) => ({ done: `${input.to} ${callID}` }), "Ada call_a"],
  ["not-started", () => "not-started", "Paid again"],
  ["unknown", () => "unknown", "Tool execution interrupted"],
  ["a text", () => "yes", "Tool execution interrupted"],
  ["nothing", () => undefined, "Tool execution interrupted"],
  ["a thrown error", () => Promise.reject(new Error("offline")), "Tool execution interrupted"],
  ["a value that JSON cannot represent", () => ({ done: 1n }), "Tool execution interrupted"],
])("the result of recover settles the call: %s", async (_name, recover, expected) => {
  const setup = await leaveOpenCall();
  const host = await setup.open({ log: () => {} });
  host.tools.register({ ...PAY, recover });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  const [call] = await readCalls(host, sessionID);
  expect(JSON.stringify(call?.state)).toContain(expected);
});

test("an interruption ends recover, and the call is interrupted", async () => {
  const setup = await leaveOpenCall();
  const host = await setup.open();
  const begun = deferred<AbortSignal>();
  host.tools.register({
    ...PAY,
    recover(_input, { signal }) {
      begun.resolve(signal);
      return new Promise(() => {});
    },
  });
  await host.sessions.resume({ sessionID });
  const signal = await begun.promise;
  await host.sessions.interrupt({ sessionID });
  expect(signal.aborted).toBe(true);
  const [call] = await readCalls(host, sessionID);
  expect(call?.state).toMatchObject({ status: "error", error: { message: "Tool execution interrupted" } });
});

test("a session that moved since does not recover its calls", async () => {
  const setup = await leaveOpenCall();
  fs.mkdirSync(path.join(setup.directory, "other"));
  const host = await setup.open();
  const recovered: string[] = [];
  host.tools.register({ ...PAY, recover: (_input, { callID }) => (recovered.push(callID), "not-started") });
  await host.sessions.move({ sessionID, location: { directory: path.join(setup.directory, "other") } });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  expect(recovered).toEqual([]);
  const [call] = await readCalls(host, sessionID);
  expect(call?.state).toMatchObject({ status: "error" });
});

const recovered = (host: OpenCodeHost) => host.tools.register({ ...PAY, recover: () => ({ done: "Paid before" }) });

test.each<[when: string, open: (setup: Setup) => Promise<OpenCodeHost>]>([
  ["by a plugin", (setup) => setup.open({ recovery: "resume", plugins: [recovered] })],
  [
    "by a plugin while the test has fake timers",
    async (setup) => {
      jest.useFakeTimers();
      try {
        return await setup.open({ recovery: "resume", plugins: [recovered] });
      } finally {
        jest.useRealTimers();
      }
    },
  ],
  [
    "directly after create",
    async (setup) => {
      const host = await setup.open({ recovery: "resume" });
      recovered(host);
      return host;
    },
  ],
])("the option recovery waits for tools that are registered %s", async (_when, open) => {
  const setup = await leaveOpenCall();
  const host = await open(setup);
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await readUntil(events, "session.next.text.ended");
  const [call] = await readCalls(host, sessionID);
  expect(JSON.stringify(call?.state)).toContain("Paid before");
});
