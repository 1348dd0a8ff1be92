// Functions of the program that answer the requests of sessions: permissions and questions.

import { isClientError, type OpenCodeHost, type OpenCodeOptions, type PermissionRequest } from "../../index.js";
import { rejection } from "../client/support";
import { type Model, readTranscript, readUntil, run, setUpSession, subscribe } from "./support";

const READ_SECRET = { tools: [{ name: "read", input: { path: ".env" }, id: "c1" }] };
const QUESTION = {
  question: "Which colour?",
  header: "Colour",
  options: [{ label: "Red", description: "warm" }],
};
const ASK = { tools: [{ name: "question", input: { questions: [QUESTION] }, id: "c1" }] };

/** A session whose model is about to read a secret file, which requires a permission. */
async function aboutToRead(options?: OpenCodeOptions) {
  const started = await setUpSession({ log: undefined, ...options });
  started.setup.write(".env", "SECRET=1");
  started.model.reply(READ_SECRET, { text: "Done." });
  return started;
}

/** The tool result that the model received. */
function toolResult(model: Model) {
  return String(model.requests.at(-1)?.body.messages.find(({ role }: { role: string }) => role === "tool")?.content);
}

/** Prompts, and waits for the permission request. */
async function ask(host: OpenCodeHost, sessionID: string) {
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  await readUntil(live, "permission.v2.asked");
  return live;
}

/** Hides the warnings of the process, and resolves with the next one. */
function nextWarning() {
  return new Promise<string>((resolve) => {
    jest.spyOn(process, "emitWarning").mockImplementation((warning) => resolve(String(warning)));
  });
}

afterEach(() => jest.restoreAllMocks());

test("a function answers permission requests instead of a user", async () => {
  const { host, model, sessionID } = await aboutToRead();
  const asked: PermissionRequest[] = [];
  host.permissions.handle((request) => {
    asked.push(request);
    return "once";
  });
  await run(host, sessionID, "Read it");
  expect(asked).toEqual([
    {
      id: expect.stringMatching(/^per_/),
      sessionID,
      action: "read",
      resources: [".env"],
      save: ["*"],
      source: { type: "tool", messageID: expect.stringMatching(/^msg_/), callID: "c1" },
    },
  ]);
  expect(toolResult(model)).toContain("SECRET=1");
  expect(await host.permissions.listSaved()).toEqual([]);
});

test("a function rejects with a message for the model, or saves its permission", async () => {
  const { host, model, sessionID } = await aboutToRead();
  const rejecting = host.permissions.handle(async () => ({ reply: "reject", message: "it is a secret" }));
  await run(host, sessionID, "Read it");
  expect(JSON.parse(toolResult(model))).toMatchObject({ error: { message: "Unable to read .env: it is a secret" } });
  rejecting.dispose();
  host.permissions.handle(() => ({ reply: "always" }));
  model.reply(READ_SECRET, { text: "Done." });
  await run(host, sessionID, "Read it all the same");
  expect(await host.permissions.listSaved()).toMatchObject([{ action: "read", resource: "*" }]);
});

test("the newest function is called first and may pass the request to the one before", async () => {
  const { host, model, sessionID } = await aboutToRead();
  const asked: string[] = [];
  host.permissions.handle(() => {
    asked.push("first");
    return "once";
  });
  host.permissions.handle(async () => {
    asked.push("second");
    return undefined;
  });
  const third = host.permissions.handle(() => {
    asked.push("third");
    return "reject";
  });
  third.dispose();
  third.dispose();
  await run(host, sessionID, "Read it");
  expect(asked).toEqual(["second", "first"]);
  expect(toolResult(model)).toContain("SECRET=1");
});

test("a function that is disposed while another decides is not called", async () => {
  const { host, sessionID } = await aboutToRead();
  const asked: string[] = [];
  const first = host.permissions.handle(() => {
    asked.push("first");
    return "once";
  });
  const passed = new Promise<void>((resolve) => {
    host.permissions.handle(async () => {
      first.dispose();
      resolve();
      return undefined;
    });
  });
  await ask(host, sessionID);
  await passed;
  // Otherwise it would be called before the first of these calls, and would answer before the second.
  await host.health.get();
  expect(await host.permissions.list({ sessionID })).toHaveLength(1);
  expect(asked).toEqual([]);
  await host.sessions.interrupt({ sessionID });
});

test("a function that replaces another is called once", async () => {
  const { host, model, sessionID } = await aboutToRead();
  await ask(host, sessionID);
  const asked: string[] = [];
  const former = host.permissions.handle(() => void asked.push("former"));
  // Time for the request to be sent to the former function.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  former.dispose();
  host.permissions.handle(() => {
    asked.push("latter");
    return "once";
  });
  await host.sessions.wait({ sessionID });
  expect(asked).toEqual(["latter"]);
  expect(toolResult(model)).toContain("SECRET=1");
});

test("a request that no function answers waits for clients", async () => {
  const { host, model, sessionID } = await aboutToRead();
  const passed = new Promise<PermissionRequest>((resolve) => {
    host.permissions.handle((request) => {
      resolve(request);
      return undefined;
    });
  });
  await ask(host, sessionID);
  const { id: requestID } = await passed;
  await host.permissions.reply({ sessionID, requestID, reply: "once" });
  await host.sessions.wait({ sessionID });
  expect(toolResult(model)).toContain("SECRET=1");
});

test("a function that is added later is called for waiting requests", async () => {
  const { host, model, sessionID } = await aboutToRead();
  await ask(host, sessionID);
  host.permissions.handle(() => "once");
  await host.sessions.wait({ sessionID });
  expect(toolResult(model)).toContain("SECRET=1");
});

test.each([
  [
    () => {
      throw new Error("handler failed");
    },
    "Error: handler failed",
  ],
  [() => Promise.reject(new Error("handler failed")), "Error: handler failed"],
  [
    () => {
      throw Object.create(null);
    },
    "an object without words",
  ],
  [
    () => {
      const get = () => {
        throw new Error("not even this");
      };
      throw new Proxy({}, { get });
    },
    "an object without words",
  ],
  [() => Promise.reject(null), "null"],
  [() => "maybe" as "once", 'Expected "once" | "always" | "reject", got "maybe"'],
  [() => null as unknown as "once", 'Expected "once" | "always" | "reject", got null'],
])("a function that fails leaves the request waiting and emits a warning: %#", async (handler, reason) => {
  const { host, sessionID } = await aboutToRead();
  host.permissions.handle(() => {
    throw new Error("this function is never called");
  });
  host.permissions.handle(handler);
  const warned = nextWarning();
  await ask(host, sessionID);
  const [request] = await host.permissions.list({ sessionID });
  const warning = await warned;
  expect(warning.startsWith(`A handler of permissions failed and leaves ${request?.id} unanswered: `)).toBe(true);
  expect(warning).toContain(reason);
  expect(await host.permissions.list({ sessionID })).toEqual([request]);
  await host.sessions.interrupt({ sessionID });
});

test("another client may answer before a function", async () => {
  const { host, model, sessionID } = await aboutToRead();
  let late: (reply: "once") => void = () => {};
  const answer = new Promise<"once">((resolve) => (late = resolve));
  const warn = jest.spyOn(process, "emitWarning");
  const handled = new Promise<PermissionRequest>((resolve) => {
    host.permissions.handle((request) => {
      resolve(request);
      return answer;
    });
  });
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  const { id: requestID } = await handled;
  await host.permissions.reply({ sessionID, requestID, reply: "reject", message: "no" });
  await host.sessions.wait({ sessionID });
  late("once");
  // The answer is sent before the second of these calls.
  await host.health.get();
  await host.health.get();
  expect(JSON.parse(toolResult(model))).toMatchObject({ error: { message: "Unable to read .env: no" } });
  expect(warn).not.toHaveBeenCalled();
});

test("a function has the same time limit as other unanswered requests", async () => {
  const { host, model, sessionID } = await aboutToRead({ permissions: { unanswered: { denyAfterMs: 20 } } });
  let asked = 0;
  host.permissions.handle(() => {
    asked += 1;
    return undefined;
  });
  await run(host, sessionID, "Read it");
  expect(asked).toBe(1);
  expect(JSON.parse(toolResult(model))).toMatchObject({
    error: {
      message: "Unable to read .env: it is not allowed. A permission rule denies it, or no user is there to decide",
    },
  });
});

test("a function is also called for the sessions of tasks", async () => {
  const { host, model, setup, sessionID } = await setUpSession({ log: undefined });
  setup.write(".env", "SECRET=1");
  const task = { name: "task", input: { description: "Read", prompt: "Read it", agent: "general" }, id: "c1" };
  model.reply({ tools: [task] }, READ_SECRET, { text: "Read." }, { text: "Done." });
  const asked: string[] = [];
  host.permissions.handle(({ sessionID: of }) => {
    asked.push(of);
    return "once";
  });
  await run(host, sessionID, "Go");
  const [child] = await host.sessions.children({ sessionID });
  expect(asked).toEqual([child?.id]);
  expect(await readTranscript(host, String(child?.id))).toEqual([
    "user: Read it",
    "assistant: [read completed]",
    "assistant: Read.",
  ]);
});

test("a function answers or rejects questions", async () => {
  const { host, model, sessionID } = await setUpSession({ log: undefined });
  model.reply(ASK, { text: "Red it is." });
  const answering = host.questions.handle(({ questions }) =>
    questions.map(({ options }) => options.map((it) => it.label)),
  );
  await run(host, sessionID, "Ask me");
  expect(toolResult(model)).toContain('"Which colour?"="Red"');
  answering.dispose();
  host.questions.handle(() => "reject");
  model.reply(ASK);
  await run(host, sessionID, "Ask me again");
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: [question error]");
});

test("accepts only functions, and only while the host is open", async () => {
  const { host } = await setUpSession({ log: undefined });
  expect(() => host.permissions.handle("once" as unknown as () => "once")).toThrow(
    "A handler of permissions must be a function, got string",
  );
  await host.close();
  const failure = await rejection((async () => host.questions.handle(() => undefined))());
  expect(isClientError(failure)).toBe(true);
});
