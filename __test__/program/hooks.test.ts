// Hooks of the program: changes, failures, scopes and their end.

import { mkdirSync } from "node:fs";
import type { HookOptions, HostHooks, OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { recorder } from "../embedded/log-support";
import {
  callTools,
  deferred,
  failure,
  readCalls,
  readHistory,
  readMessages,
  run,
  setUp,
  setUpSession,
} from "./support";

const ECHO = {
  name: "echo",
  description: "Returns its input.",
  input: { type: "object", properties: { text: { type: "string" } } },
} as const;

function registerEcho(host: OpenCodeHost) {
  const inputs: unknown[] = [];
  host.tools.register({
    ...ECHO,
    execute(input) {
      inputs.push(input);
      return `You said ${String(input.text)}`;
    },
  });
  return inputs;
}

/** A session whose history a summary can replace completely. */
async function setUpShort(options: OpenCodeOptions = {}) {
  const setup = await setUp();
  const host = await setup.open({ ...options, config: setup.model.config({ compaction: { keep: { tokens: 1 } } }) });
  const { id: sessionID } = await host.sessions.create();
  return { setup, host, sessionID, model: setup.model };
}

const call = (text = "a") => ({ name: "echo", input: { text }, id: "call_1" });

test("onPrompt changes a prompt before its admission", async () => {
  const { host, sessionID, model } = await setUpSession();
  const seen: unknown[] = [];
  host.hooks.onPrompt(({ prompt, signal: _signal, ...context }) => {
    seen.push(context);
    return { prompt: { ...prompt, text: prompt.text.replace("password", "***") } };
  });
  const receipt = await host.sessions.prompt({ sessionID, id: "msg_1", prompt: { text: "a password" } });
  expect(receipt.prompt).toEqual({ text: "a ***" });
  await host.sessions.wait({ sessionID });
  expect(JSON.stringify(model.requests)).not.toContain("password");
  const directory = (await host.sessions.get({ sessionID })).location.directory;
  expect(seen).toEqual([{ sessionID, messageID: "msg_1", delivery: "steer", location: { directory } }]);
  // A retry gives the same prompt.
  await expect(host.sessions.prompt({ sessionID, id: "msg_1", prompt: { text: "a password" } })).resolves.toMatchObject(
    {
      admittedSeq: receipt.admittedSeq,
    },
  );
});

test("prompts of a session keep the order of their calls while a hook works", async () => {
  const { host, sessionID } = await setUpSession();
  const first = deferred();
  host.hooks.onPrompt(async ({ prompt }) => {
    if (prompt.text === "1") await first.promise;
  });
  const receipts = ["1", "2", "3"].map((text) =>
    host.sessions.prompt({ sessionID, prompt: { text }, delivery: "queue", resume: false }),
  );
  first.resolve();
  await Promise.all(receipts);
  const waiting = await host.sessions.inbox.list({ sessionID });
  expect(waiting.map(({ prompt }) => prompt.text)).toEqual(["1", "2", "3"]);
});

test("a hook that prompts its own session ends at its time limit, and nothing is lost", async () => {
  const { host, sessionID } = await setUpSession();
  let inner: Promise<unknown> | undefined;
  host.hooks.onPrompt(
    async ({ prompt }) => {
      if (prompt.text !== "outer") return;
      inner = host.sessions.prompt({ sessionID, prompt: { text: "inner" }, resume: false });
      await inner;
    },
    { timeoutMs: 50 },
  );
  await host.sessions.prompt({ sessionID, prompt: { text: "outer" }, resume: false });
  await inner;
  const waiting = await host.sessions.inbox.list({ sessionID });
  expect(waiting.map(({ prompt }) => prompt.text)).toEqual(["outer", "inner"]);
});

test("onRequest changes headers, settings and the system text of one request", async () => {
  const { host, sessionID, model } = await setUpSession();
  const seen: unknown[] = [];
  const hook = host.hooks.onRequest(({ signal: _signal, ...context }) => {
    seen.push(context);
    return { headers: { "x-trace": "7" }, body: { temperature: 0.25 }, system: "Answer in French." };
  });
  await run(host, sessionID, "Hi");
  const { body, headers } = await model.received(1);
  expect(headers["x-trace"]).toBe("7");
  expect(body.temperature).toBe(0.25);
  expect(JSON.stringify(body.messages)).toContain("Answer in French.");
  expect(seen).toEqual([
    expect.objectContaining({
      sessionID,
      agent: "build",
      model: expect.objectContaining({ id: "m1" }),
      preview: false,
    }),
  ]);
  // The same request is shown.
  const shown = await host.sessions.request({ sessionID });
  expect(shown.request.system.at(-1)).toBe("Answer in French.");
  expect(seen.at(-1)).toMatchObject({ preview: true });

  await run(host, sessionID, "Again");
  hook.dispose();
  await run(host, sessionID, "Without");
  const { body: last } = await model.received(3);
  expect(last.temperature).toBeUndefined();
  expect(JSON.stringify(last.messages)).not.toContain("French");
  expect(await readReasons(host, sessionID)).toEqual(["first", undefined, "hooks"]);
});

async function readReasons(host: OpenCodeHost, sessionID: string) {
  const history = await readHistory(host, sessionID);
  return history.flatMap((event) =>
    event.type === "session.next.step.ended" ? [(event.metadata as any)?.prefix?.reason] : [],
  );
}

test("onRequest cannot set what the protocol writes, and its other changes count", async () => {
  const { entries, log } = recorder();
  const { host, model, sessionID } = await setUpSession({ log });
  host.hooks.onRequest(() => ({ body: { messages: [], stream: false, temperature: 0.25 } }));
  model.reply({ text: "Done." });
  expect(await host.sessions.run({ sessionID, prompt: "Hi" }).result).toMatchObject({ outcome: "completed" });
  expect(model.requests[0]?.body).toMatchObject({ stream: true, temperature: 0.25, messages: [{}, {}] });
  await host.close();
  const messages = entries.map(({ message }) => message);
  expect(messages.filter((message) => message.includes("messages, stream"))).toHaveLength(1);
});

test("onCompaction extends or replaces the instructions of a summary", async () => {
  const { host, sessionID, model } = await setUpShort();
  await run(host, sessionID, "Hi");
  host.hooks.onCompaction(({ reason }) => ({ instructions: `Keep all numbers (${reason}).` }));
  model.reply({ text: "Summary." });
  await host.sessions.compact({ sessionID });
  const { body } = await model.received(2);
  expect(JSON.stringify(body.messages)).toContain("Keep all numbers (manual).");
  expect(JSON.stringify(body.messages)).toContain("## Objective");

  await run(host, sessionID, "More");
  host.hooks.onCompaction(() => ({ prompt: "Sum it up." }));
  model.reply({ text: "Summary." });
  await host.sessions.compact({ sessionID });
  const text = JSON.stringify((await model.received(4)).body.messages);
  expect(text).toContain("Sum it up.");
  expect(text).toContain("Keep all numbers");
  expect(text).not.toContain("## Objective");
});

test("onToolCall changes the arguments before the permission, and the history keeps those of the model", async () => {
  const started = await setUpSession();
  const inputs = registerEcho(started.host);
  started.host.hooks.onToolCall(({ tool, input }) => ({ input: { text: `${tool}:${(input as any).text}` } }));
  started.host.hooks.onToolCall(({ input }) => ({ input: { text: `${(input as any).text}!` } }));
  expect(await callTools(started, call())).toEqual(["You said echo:a!"]);
  expect(inputs).toEqual([{ text: "echo:a!" }]);
  const [recorded] = await readCalls(started.host, started.sessionID);
  expect(recorded?.state.input).toEqual({ text: "a" });
});

test("onToolResult changes results and failures before they are stored", async () => {
  const started = await setUpSession();
  const { host } = started;
  started.setup.write("key.txt", "sk-12345");
  host.hooks.onToolResult(({ tool, structured, error }) => {
    if (error !== undefined) return { error: `Redacted: ${error.length > 0}` };
    return { result: `${tool}: ${JSON.stringify(structured).replace(/sk-\d+/, "***")}` };
  });
  const [result] = await callTools(started, { name: "read", input: { path: "key.txt" }, id: "call_1" });
  expect(result).toContain("***");
  const [failed] = await callTools(started, { name: "read", input: { path: "missing.txt" }, id: "call_2" });
  expect(failure(failed)).toBe("Redacted: true");
  expect(JSON.stringify(await readHistory(host, started.sessionID))).not.toContain("sk-12345");
});

test("a failed hook withholds the call or its result, and the turn continues", async () => {
  const started = await setUpSession();
  const { host } = started;
  const inputs = registerEcho(host);
  const broken = host.hooks.onToolCall(() => {
    throw new Error("no access");
  });
  expect(failure((await callTools(started, call()))[0])).toBe(
    "The call did not run, because a hook of the program failed",
  );
  expect(inputs).toEqual([]);
  broken.dispose();
  host.hooks.onToolResult(() => Promise.reject(new Error("no access")));
  expect(failure((await callTools(started, call("b")))[0])).toBe(
    "The result is withheld, because a hook of the program failed",
  );
  expect(JSON.stringify(await readMessages(host, started.sessionID))).not.toContain("You said");
});

const WRONG: [name: string, hook: (context: any) => any][] = [
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken"))],
  ["rejects with nothing", () => Promise.reject(undefined)],
  ["returns a text", () => "text"],
  ["returns an array", () => []],
  ["returns an unknown member", () => ({ unknown: 1 })],
  ["returns a member of the wrong type", () => ({ system: 1, headers: 1, prompt: 1, instructions: 1 })],
  [
    "returns a getter that throws",
    () => ({
      get system() {
        throw new Error("broken");
      },
      get prompt() {
        throw new Error("broken");
      },
    }),
  ],
  ["returns a BigInt", () => ({ body: { seed: 1n }, prompt: { text: 1n } })],
  [
    "returns a circle",
    () => {
      const body: any = {};
      body.body = body;
      return { body, prompt: body };
    },
  ],
  ["returns 100 MB", () => ({ system: "x".repeat(100_000_000), prompt: { text: "x".repeat(100_000_000) } })],
  ["returns invalid headers", () => ({ headers: { "a b": "c" }, prompt: {} })],
  ["never returns", () => new Promise(() => {})],
];

test.each(WRONG)("a hook that %s changes nothing, is logged, and loses no turn", async (name, hook) => {
  const { log: sink, entries } = recorder();
  const { host, sessionID, model } = await setUpShort({ log: sink });
  const options: HookOptions = name === "never returns" ? { timeoutMs: 20 } : {};
  for (const moment of ["onPrompt", "onRequest", "onCompaction"] as const) {
    (host.hooks[moment] as (hook: unknown, options: HookOptions) => unknown)(hook, options);
  }
  await run(host, sessionID, "Hi");
  const { body } = await model.received(1);
  expect(body.messages.at(-1)).toEqual({ role: "user", content: "Hi" });
  model.reply({ text: "Summary." });
  await host.sessions.compact({ sessionID });
  await host.close();
  const failed = entries.filter(({ message }) => message.startsWith("a hook failed"));
  expect(failed.map(({ fields }) => fields.hook)).toEqual(["onPrompt", "onRequest", "onCompaction"]);
  expect(new Set(failed.map(({ target }) => target))).toEqual(new Set(["opencode::handlers"]));
});

test.each(WRONG)("a hook of a tool call that %s withholds the call or its result", async (name, hook) => {
  const started = await setUpSession();
  const inputs = registerEcho(started.host);
  const options: HookOptions = name === "never returns" ? { timeoutMs: 20 } : {};
  const result = started.host.hooks.onToolResult(hook, options);
  expect(failure((await callTools(started, call()))[0])).toContain("The result is withheld");
  result.dispose();
  started.host.hooks.onToolCall(hook, options);
  expect(failure((await callTools(started, call("b")))[0])).toContain("The call did not run");
  expect(inputs).toEqual([{ text: "a" }]);
});

test("a hook of one Location does not see sessions of another one", async () => {
  const { host, sessionID, setup } = await setUpSession();
  mkdirSync(`${setup.directory}/other`);
  const other = await host.sessions.create({ location: { directory: `${setup.directory}/other` } });
  const seen: string[] = [];
  host.hooks.onRequest(({ sessionID: id }) => void seen.push(id), {
    location: { directory: `${setup.directory}/other` },
  });
  await run(host, sessionID, "Hi");
  await run(host, other.id, "Hi");
  expect(seen).toEqual([other.id]);
});

test("an interrupted session aborts the signal of its hook", async () => {
  const { host, sessionID } = await setUpSession();
  const begun = deferred<AbortSignal>();
  host.hooks.onRequest(({ signal }) => {
    begun.resolve(signal);
    return new Promise(() => {});
  });
  void host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  const signal = await begun.promise;
  const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await host.sessions.interrupt({ sessionID });
  await aborted;
});

test("closing the host inside a hook ends the turn", async () => {
  const { host, sessionID, model } = await setUpSession();
  const closed = deferred();
  host.hooks.onRequest(async () => {
    await host.close();
    closed.resolve();
  });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await closed.promise;
  expect(model.requests).toHaveLength(0);
});

test.each<[option: string, given: (hooks: HostHooks) => unknown]>([
  ["hook", (hooks) => hooks.onRequest(undefined as any)],
  ["hook", (hooks) => hooks.onPrompt({} as any)],
  ["options", (hooks) => hooks.onRequest(() => {}, 1 as any)],
  ["timeoutMs", (hooks) => hooks.onRequest(() => {}, { timeoutMs: 0 })],
  ["timeoutMs", (hooks) => hooks.onRequest(() => {}, { timeoutMs: 600_001 })],
  ["timeout", (hooks) => hooks.onRequest(() => {}, { timeout: 1 } as any)],
  ["location.directory", (hooks) => hooks.onRequest(() => {}, { location: { directory: 1 } as any })],
  ["location.directory", (hooks) => hooks.onRequest(() => {}, { location: { directory: "relative" } })],
])("an invalid %s is refused at the registration", async (option, given) => {
  const { host } = await setUpSession();
  expect(() => given(host.hooks)).toThrow(expect.objectContaining({ _tag: "InvalidOptionError", option }));
});
