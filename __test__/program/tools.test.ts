// Tools of the program: calls, results, permissions, and their end.

import type { ToolCallContext } from "../../index.js";
import { callTools, deferred, failure, readCalls, readUntil, run, setUp, setUpSession, subscribe } from "./support";

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

const WEATHER = { name: "weather", description: "Returns the weather of a city.", input: CITY };

const call = (input: object = { city: "Oslo" }, id = "call_1") => ({ name: "weather", input, id });

test("the model sees a tool and receives the result of its function", async () => {
  const started = await setUpSession();
  const inputs: unknown[] = [];
  started.host.tools.register({
    ...WEATHER,
    execute(input) {
      inputs.push(input);
      return "Rain";
    },
  });
  expect(await callTools(started, call())).toEqual(["Rain"]);
  expect(inputs).toEqual([{ city: "Oslo" }]);
  const { body } = await started.model.received(1);
  expect(body.tools.at(-1)).toEqual({
    type: "function",
    function: { name: "weather", description: WEATHER.description, parameters: CITY },
  });
});

test("the context names the call, and its key is unique", async () => {
  const started = await setUpSession();
  const contexts: ToolCallContext[] = [];
  started.host.tools.register({ ...WEATHER, execute: (_, context) => void contexts.push(context) });
  await callTools(started, call(), call({ city: "Rome" }, "call_2"));
  await callTools(started, call({ city: "Bonn" }));
  const calls = await readCalls(started.host, started.sessionID);
  // The calls of one turn run concurrently.
  expect(contexts.map(({ callID }) => callID).sort()).toEqual(calls.map(({ id }) => id).sort());
  const [context] = contexts;
  expect(context).toMatchObject({
    sessionID: started.sessionID,
    messageID: expect.stringMatching(/^msg_/),
    agent: "build",
    location: { directory: started.setup.directory },
  });
  expect(context?.signal.aborted).toBe(false);
  expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
});

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

test("results are texts, parts or values", async () => {
  const started = await setUpSession();
  const image = Buffer.from(PIXEL, "base64");
  const results: unknown[] = [
    "text",
    { celsius: 5 },
    [1, 2],
    7,
    undefined,
    {
      content: [
        { type: "text", text: "two" },
        { type: "text", text: "parts" },
      ],
      structured: { hidden: true },
    },
    { content: [{ type: "image", data: image, mediaType: "image/png" }] },
  ];
  const queue = [...results];
  started.host.tools.register({ ...WEATHER, execute: () => queue.shift() as never });
  const received = [];
  for (const _ of results) received.push(...(await callTools(started, call())));
  expect(received.slice(0, 6)).toEqual(["text", '{"celsius":5}', '{"value":[1,2]}', '{"value":7}', "{}", "two\nparts"]);
  const calls = await readCalls(started.host, started.sessionID);
  expect(calls.map(({ state }) => "structured" in state && state.structured)).toEqual([
    {},
    { celsius: 5 },
    { value: [1, 2] },
    { value: 7 },
    {},
    { hidden: true },
    {},
  ]);
  expect(calls[6]?.state).toMatchObject({
    content: [{ type: "file", uri: `data:image/png;base64,${PIXEL}`, mime: "image/png" }],
  });
});

test("the arguments are checked against a JSON Schema before the function runs", async () => {
  const started = await setUpSession();
  const execute = jest.fn(() => "");
  started.host.tools.register({ ...WEATHER, execute });
  const [missing, wrong] = await callTools(started, call({}), call({ city: 5 }, "call_2"));
  expect(failure(missing)).toBe('Invalid tool input: Missing key\n  at ["city"]');
  expect(failure(wrong)).toBe('Invalid tool input: Expected string, got 5\n  at ["city"]');
  expect(execute).not.toHaveBeenCalled();
});

test("a thrown error is a failure for the model, and its stack is in the log", async () => {
  const entries: unknown[] = [];
  const started = await setUpSession({ log: (entry) => void entries.push(entry) });
  const thrown: unknown[] = [new RangeError("no such city"), "plain text", null, { message: "" }];
  started.host.tools.register({
    ...WEATHER,
    execute() {
      throw thrown.shift();
    },
  });
  const results = await callTools(
    started,
    call(),
    call({ city: "a" }, "b"),
    call({ city: "b" }, "c"),
    call({ city: "c" }, "d"),
  );
  // The calls of one turn run concurrently.
  expect(results.map(failure).sort()).toEqual(["[object Object]", "no such city", "null", "plain text"]);
  await started.host.close();
  expect(entries).toContainEqual(
    expect.objectContaining({
      level: "warn",
      target: "opencode::handlers",
      message: "a tool of the program failed",
      sessionID: started.sessionID,
      fields: expect.objectContaining({ tool: "weather", stack: expect.stringContaining("tools.test.ts") }),
    }),
  );
});

test("a result that is not JSON fails the call alone", async () => {
  const started = await setUpSession();
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const getter = {
    get member() {
      throw new Error("from a getter");
    },
  };
  const results: unknown[] = [cycle, 10n, getter, { content: [{ type: "movie" }] }, "x".repeat(9_000_000), "fine"];
  // JSON leaves these out, so they would become a success without a result.
  const left = [() => 1, Symbol("s"), { toJSON: () => undefined }, { content: [], structured: () => 1 }];
  results.push(...left);
  const queue = [...results];
  started.host.tools.register({ ...WEATHER, execute: () => queue.shift() as never });
  const received = [];
  for (const _ of results) received.push(...(await callTools(started, call())));
  expect(failure(received[0])).toContain("circular");
  expect(failure(received[1])).toContain("BigInt");
  expect(failure(received[2])).toBe("from a getter");
  expect(failure(received[3])).toBe('A part of the result must be of the type "text", "image" or "file", got "movie"');
  expect(failure(received[4])).toContain("at most 8388608 are possible");
  expect(received[5]).toBe("fine");
  const got = ["a function", "a symbol", "an object", "a function"];
  expect(received.slice(6).map(failure)).toEqual(got.map((it) => `The result must be a JSON value, got ${it}`));
});

test("a long text is cut, and the rest is in a file", async () => {
  const started = await setUpSession();
  started.host.tools.register({ ...WEATHER, execute: () => "line\n".repeat(100_000) });
  const [result] = await callTools(started, call());
  expect(result?.length).toBeLessThan(60_000);
  const [stored] = await readCalls(started.host, started.sessionID);
  expect(stored?.state).toMatchObject({ status: "completed", outputPaths: [expect.any(String)] });
});

test("a refused permission prevents the call, and a permitted one can be saved", async () => {
  const started = await setUpSession({ config: undefined });
  await started.host.close();
  const host = await started.setup.open({
    config: { ...started.model.config(), permissions: [{ action: "forecast", resource: "*", effect: "ask" }] },
  });
  const session = await host.sessions.create();
  const execute = jest.fn(() => "Sun");
  host.tools.register({
    ...WEATHER,
    permission: { action: "forecast", resources: ({ city }) => [String(city)], save: ["*"] },
    execute,
  });
  const answers = [{ reply: "reject" as const, message: "Not now" }, "always" as const];
  const requests: unknown[] = [];
  host.permissions.handle((request) => {
    requests.push(request);
    return answers.shift();
  });
  const again = { ...started, host, sessionID: session.id };
  const [refused] = await callTools(again, call());
  expect(failure(refused)).toContain("weather is not permitted");
  expect(failure(refused)).toContain("Not now");
  expect(execute).not.toHaveBeenCalled();
  expect(await callTools(again, call({ city: "Rome" }))).toEqual(["Sun"]);
  expect(await callTools(again, call({ city: "Bonn" }))).toEqual(["Sun"]);
  expect(requests).toMatchObject([
    { action: "forecast", resources: ["Oslo"], save: ["*"], sessionID: session.id },
    { resources: ["Rome"] },
  ]);
});

test("an interruption aborts the signal and settles the call although the function continues", async () => {
  const entries: { message: string }[] = [];
  const started = await setUpSession({ log: (entry) => void entries.push(entry) });
  const { host, model, sessionID } = started;
  const [began, result] = [deferred<ToolCallContext>(), deferred<string>()];
  host.tools.register({
    ...WEATHER,
    execute(_, context) {
      began.resolve(context);
      return result.promise;
    },
  });
  model.reply({ tools: [call()] });
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  const { signal } = await began.promise;
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  expect(signal.aborted).toBe(true);
  const [stored] = await readCalls(host, sessionID);
  expect(stored?.state).toMatchObject({ status: "error", error: { message: "Tool execution interrupted" } });
  result.resolve("too late");
  await result.promise;
  await host.close();
  expect(entries.map(({ message }) => message)).toContainEqual(
    "A result of the tool weather came after the end of its call and is dropped",
  );
});

test("a call fails after its time limit", async () => {
  const started = await setUpSession();
  let signal: AbortSignal | undefined;
  started.host.tools.register({
    ...WEATHER,
    timeoutMs: 20,
    execute: (_, context) => {
      ({ signal } = context);
      return new Promise<string>(() => {});
    },
  });
  const [result] = await callTools(started, call());
  expect(failure(result)).toBe("The tool was stopped: it took more than 20 milliseconds");
  expect(signal?.aborted).toBe(true);
});

test("progress is live, and only the newest value of an interval is sent", async () => {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  const [live, goOn] = [await subscribe(host), deferred()];
  host.tools.register({
    ...WEATHER,
    async execute(_, { progress }) {
      for (let percent = 0; percent <= 100; percent += 1) progress({ percent });
      await goOn.promise;
      return "Sun";
    },
  });
  model.reply({ tools: [call()] }, { text: "Done." });
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  const reports = [];
  for (let last; last !== 100;) {
    const report = (await readUntil(live, "session.next.tool.reported")).at(-1);
    reports.push(report);
    last = (report as unknown as { data: { structured: { percent: number } } }).data.structured.percent;
  }
  goOn.resolve();
  await host.sessions.wait({ sessionID });
  expect(reports).toMatchObject([
    { data: { sessionID, callID: "call_1", structured: { percent: 0 }, content: [] } },
    { data: { structured: { percent: 100 } } },
  ]);
});

test("a registration shadows an equal name until it is disposed", async () => {
  const started = await setUpSession();
  const first = started.host.tools.register({ ...WEATHER, execute: () => "first" });
  const second = started.host.tools.register({ ...WEATHER, execute: () => "second" });
  expect(await callTools(started, call())).toEqual(["second"]);
  second.dispose();
  second.dispose();
  expect(await callTools(started, call())).toEqual(["first"]);
  first.dispose();
  const [unknown] = await callTools(started, call());
  expect(failure(unknown)).toBe("Unknown tool: weather");
});

test("a tool of the program can shadow a built-in tool", async () => {
  const started = await setUpSession();
  const input = { type: "object", properties: { path: { type: "string" } } } as const;
  const reading = started.host.tools.register({ name: "read", description: "Reads.", input, execute: () => "mine" });
  expect(await callTools(started, { name: "read", input: { path: "a.txt" }, id: "call_1" })).toEqual(["mine"]);
  reading.dispose();
  started.setup.write("a.txt", "built in\n");
  const [builtIn] = await callTools(started, { name: "read", input: { path: "a.txt" }, id: "call_2" });
  expect(builtIn).toContain("built in");
});

test("a call of a turn that began before the disposal is stale", async () => {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  const registered = host.tools.register({ ...WEATHER, execute: () => "never" });
  model.reply({ tools: [call()], gate: "answer" }, { text: "Done." });
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  await model.reached("answer");
  registered.dispose();
  model.release("answer");
  await host.sessions.wait({ sessionID });
  const [stored] = await readCalls(host, sessionID);
  expect(stored?.state).toMatchObject({ status: "error", error: { message: "Stale tool call: weather" } });
});

test("a tool of one Location is not offered in another", async () => {
  const setup = await setUp();
  const host = await setup.open();
  const other = { directory: setup.root };
  host.tools.register({ ...WEATHER, execute: () => "here" }, { location: { directory: `${setup.root}/project/../` } });
  const [here, there] = [await host.sessions.create({ location: other }), await host.sessions.create()];
  const started = { setup, host, model: setup.model, session: here, sessionID: here.id };
  expect(await callTools(started, call())).toEqual(["here"]);
  const [unknown] = await callTools({ ...started, session: there, sessionID: there.id }, call());
  expect(failure(unknown)).toBe("Unknown tool: weather");
});

test("a function may prompt, register and dispose within its call", async () => {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  const registered = host.tools.register({
    ...WEATHER,
    async execute() {
      registered.dispose();
      host.tools.register({ ...WEATHER, name: "other", execute: () => "" });
      await host.sessions.prompt({ sessionID, prompt: "From inside", delivery: "queue" });
      return "Sun";
    },
  });
  model.reply({ tools: [call()] }, { text: "One." }, { text: "Two." });
  await run(host, sessionID, "Go");
  const [stored] = await readCalls(host, sessionID);
  expect(stored?.state.status).toBe("completed");
  const { body } = await model.received(3);
  expect(body.messages.at(-1)).toMatchObject({ role: "user", content: "From inside" });
});

test("a function may close the host", async () => {
  const started = await setUpSession();
  const { host, model, setup, sessionID } = started;
  const closed = deferred();
  host.tools.register({
    ...WEATHER,
    execute() {
      void host.close().then(closed.resolve);
      return new Promise<string>(() => {});
    },
  });
  model.reply({ tools: [call()] });
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  await closed.promise;
  const [stored] = await readCalls(await setup.open(), sessionID);
  expect(stored?.state).toMatchObject({ status: "error", error: { message: "Tool execution interrupted" } });
});

test("a closed host takes no tool", async () => {
  const { host } = await setUpSession();
  const registered = host.tools.register({ ...WEATHER, execute: () => "" });
  await host.close();
  registered.dispose();
  expect(() => host.tools.register({ ...WEATHER, execute: () => "" })).toThrow(
    expect.objectContaining({ name: "ClientError" }),
  );
});

test("a hundred functions that ignore their signal settle, and their hosts close", async () => {
  const started = await setUpSession({ limits: { toolCallsAtOnce: 100 } });
  const { host, model, sessionID } = started;
  const signals: AbortSignal[] = [];
  const all = deferred();
  host.tools.register({
    ...WEATHER,
    execute(_, { signal }) {
      if (signals.push(signal) === 100) all.resolve();
      return new Promise<string>(() => {});
    },
  });
  model.reply({ tools: Array.from({ length: 100 }, (_, at) => call({ city: `${at}` }, `call_${at}`)) });
  await host.sessions.prompt({ sessionID, prompt: "Go" });
  await all.promise;
  await host.sessions.interrupt({ sessionID });
  await host.sessions.wait({ sessionID });
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
  const calls = await readCalls(host, sessionID);
  expect(calls.map(({ state }) => state.status)).toEqual(Array.from({ length: 100 }, () => "error"));
  await host.close();
});

test("a disposal in the middle of a batch ends no running call, and the other calls are stale", async () => {
  const started = await setUpSession();
  let executed = 0;
  const registration = started.host.tools.register({
    ...WEATHER,
    execute() {
      executed += 1;
      if (executed === 50) registration.dispose();
      return "Rain";
    },
  });
  const calls = Array.from({ length: 200 }, (_, number) => call({ city: `City ${number}` }, `call_${number}`));
  const results = await callTools(started, ...calls);
  const failed = results.filter((result) => result !== "Rain");
  expect(results).toHaveLength(200);
  expect(failed).toHaveLength(200 - executed);
  for (const result of failed) {
    expect(["Stale tool call: weather", "The tool is not registered any more"]).toContain(failure(result));
  }
});

test("a disposal while the host closes is harmless", async () => {
  const { host, sessionID, model } = await setUpSession();
  const begun = deferred();
  const registration = host.tools.register({
    ...WEATHER,
    execute() {
      begun.resolve();
      return new Promise<string>(() => {});
    },
  });
  model.reply({ tools: [call()] });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await begun.promise;
  const closing = host.close();
  registration.dispose();
  await closing;
  registration.dispose();
});
