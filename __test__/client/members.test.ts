import { createClient, resumeEvents } from "../../dist/client/index.js";
import { createTestClient, json, rejection } from "./support";

const ok = () => json({ data: {} });

describe("an unknown member", () => {
  test.each([
    ["sessions.get", { other: "s" }, "other", "of sessions.get, which takes sessionID"],
    ["sessions.get", { other: null }, "other", "of sessions.get, which takes sessionID"],
    [
      "sessions.get",
      { sessionId: "s" },
      "sessionId",
      "of sessions.get, which takes sessionID. Did you mean sessionID?",
    ],
    [
      "sessions.get",
      { session_id: "s" },
      "session_id",
      "of sessions.get, which takes sessionID. Did you mean sessionID?",
    ],
    ["sessions.get", { id: "s" }, "id", "of sessions.get, which takes sessionID. Did you mean sessionID?"],
    [
      "sessions.messages",
      { sessionID: "s", id: "m" },
      "id",
      "of sessions.messages, which takes sessionID, limit, order, cursor",
    ],
    [
      "sessions.create",
      { directory: "/x" },
      "directory",
      "of sessions.create, which takes id, agent, location. Did you mean location: { directory }?",
    ],
    [
      "sessions.create",
      { cwd: "/x" },
      "cwd",
      "of sessions.create, which takes id, agent, location. Did you mean location: { directory }?",
    ],
    [
      "sessions.create",
      { signal: null, headers: {} },
      "signal",
      "of sessions.create, which takes id, agent, location. " +
        "Did you mean the second parameter, sessions.create({ ... }, { signal })?",
    ],
    [
      "sessions.create",
      { __proto__: null, toString: 1 },
      "toString",
      "of sessions.create, which takes id, agent, location",
    ],
    [
      "sessions.create",
      { location: { directory: "/x", project: {} } },
      "location.project",
      "of sessions.create, whose location takes directory, workspaceID",
    ],
    [
      "sessions.prompt",
      { sessionID: "s", prompt: { txt: "hi" } },
      "prompt.txt",
      "of sessions.prompt, whose prompt takes text, files. Did you mean prompt.text?",
    ],
    [
      "sessions.prompt",
      { sessionID: "s", text: "hi" },
      "text",
      "of sessions.prompt, which takes sessionID, id, prompt, delivery, resume, metadata. Did you mean prompt: { text }?",
    ],
    [
      "sessions.prompt",
      { sessionID: "s", prompt: { text: "", files: [{ uri: "a" }, { uri: "b", source: { start: 0, stop: 1 } }] } },
      "prompt.files[1].source.stop",
      "of sessions.prompt, whose prompt.files[1].source takes start, end",
    ],
    [
      "sessions.prompt",
      { sessionID: "s", prompt: { text: "", files: [{ url: "a" }] } },
      "prompt.files[0].url",
      "of sessions.prompt, whose prompt.files[0] takes uri, source. Did you mean prompt.files[0].uri?",
    ],
  ])("is refused by name and nothing is sent: %s(%j)", async (method, input, field, message) => {
    const { client, requests } = createTestClient(ok);
    const [group, name] = method.split(".") as [string, string];
    const error = await rejection(client[group][name](input));
    expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message: `Unknown member ${field} ${message}`, field });
    expect(requests).toEqual([]);
  });

  test("is refused by a stream at its first read", async () => {
    const { client, requests } = createTestClient(ok);
    const stream = client.sessions.events({ sessionID: "s", aftr: 1 })[Symbol.asyncIterator]();
    await expect(rejection(stream.next())).resolves.toMatchObject({
      _tag: "InvalidRequestError",
      message: "Unknown member aftr of sessions.events, which takes sessionID, after. Did you mean after?",
    });
    expect(requests).toEqual([]);
  });

  test("is shortened in the message", async () => {
    const { client } = createTestClient(ok);
    const error = await rejection(client.sessions.get({ ["x".repeat(1_000_000)]: 1 }));
    expect(error.message).toBe(`Unknown member ${"x".repeat(60)}... of sessions.get, which takes sessionID`);
  });

  test("is shown on one line", async () => {
    const { client } = createTestClient(ok);
    const error = await rejection(client.sessions.get({ "a\nb": 1 }));
    expect(error.message).toBe('Unknown member "a\\nb" of sessions.get, which takes sessionID');
  });

  test("is not searched in a value that cannot be inspected, which is not sent", async () => {
    const { client, requests } = createTestClient(ok);
    const cause = new Error("closed");
    const thrower = () => {
      throw cause;
    };
    for (const prompt of [
      Object.defineProperty({}, "text", { enumerable: true, get: thrower }),
      new Proxy({}, { ownKeys: thrower }),
    ]) {
      const error = await rejection(client.sessions.prompt({ sessionID: "s", prompt }));
      expect(error).toMatchObject({ name: "ClientError", reason: "Transport", cause });
    }
    expect(requests).toEqual([]);
  });

  test("is not searched in free-form objects, nor in values of another kind", async () => {
    const { client, requests } = createTestClient(ok);
    const open = new Proxy({}, { get: () => undefined, ownKeys: () => [] });
    for (const prompt of ["text", ["a"], 5, { text: { any: 1 } }, { text: "", files: { uri: 1 } }, { files: ["a"] }]) {
      await client.sessions.prompt({ sessionID: "s", prompt, metadata: { any: { thing: open } } });
    }
    expect(requests).toHaveLength(6);
  });

  test.each([
    [{ timeout: 5 }, "timeout", "Did you mean signal: AbortSignal.timeout(ms)?"],
    [{ header: {} }, "header", "Did you mean headers?"],
    [{ sessionID: "s" }, "sessionID", undefined],
  ])("is refused in the options of a call: %j", async (options, field, hint) => {
    const { client, requests } = createTestClient(ok);
    for (const [name, promise] of [
      ["sessions.get", client.sessions.get({ sessionID: "s" }, options)],
      ["health.get", client.health.get(options)],
      ["sessions.import", client.sessions.import([], options)],
      ["events.subscribe", client.events.subscribe(options)[Symbol.asyncIterator]().next()],
    ] as const) {
      const error = await rejection(promise);
      const message = `Unknown member ${field} of the options of ${name}, which takes signal, headers`;
      expect({ ...error }).toEqual({
        _tag: "InvalidRequestError",
        message: hint === undefined ? message : `${message}. ${hint}`,
        field,
      });
    }
    expect(requests).toEqual([]);
  });

  test.each([
    [1, "sessions.get takes { signal, headers } as its options, got a number"],
    ["s", "sessions.get takes { signal, headers } as its options, got a string"],
    [new AbortController().signal, "sessions.get takes { signal, headers } as its options, got a signal"],
  ])("call options of another kind are refused, case %#", async (options, message) => {
    const { client, requests } = createTestClient(ok);
    const error = await rejection(client.sessions.get({ sessionID: "s" }, options));
    expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message });
    expect(requests).toEqual([]);
  });

  test("is refused by createClient and resumeEvents", () => {
    const cases: [() => unknown, string][] = [
      [
        () => createClient({ baseURL: "http://h" } as never),
        "Unknown member baseURL of createClient, which takes baseUrl, fetch, headers. Did you mean baseUrl?",
      ],
      [() => createClient("http://h" as never), "createClient takes an object with baseUrl, fetch, headers"],
      [() => resumeEvents({} as never, { sessionID: "s", minDelay: 5 } as never), "Did you mean minDelayMs?"],
    ];
    for (const [call, message] of cases) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow(message);
    }
  });
});
