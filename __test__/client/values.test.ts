// Values that JSON would change or omit. Each client refuses them before it sends a request.

import { createClient, resumeEvents } from "../../dist/client/index.js";
import { collect, json, rejection } from "./support";

class Hidden {
  #cost = 5;
  get cost() {
    return this.#cost;
  }
}

const LOST: [string, unknown, string][] = [
  ["NaN", NaN, "expected a finite number, received NaN"],
  ["Infinity", Infinity, "expected a finite number, received Infinity"],
  ["-Infinity", -Infinity, "expected a finite number, received -Infinity"],
  ["a boxed NaN", Object(NaN), "expected a value of JSON, received NaN"],
  ["an invalid date", new Date(NaN), "expected a value of JSON, received Invalid Date"],
  ["a bigint", 5n, "expected a value of JSON, received a bigint"],
  ["a function", () => 5, "expected a value of JSON, received a function"],
  ["a symbol", Symbol("x"), "expected a value of JSON, received a symbol"],
  ["a promise", Promise.resolve(5), "expected a value of JSON, received [object Promise]"],
  ["a map", new Map([["cost", 5]]), "expected a value of JSON, received [object Map]"],
  ["a class with a getter", new Hidden(), "expected a value of JSON, received [object Object]"],
  ["a replacement that is NaN", { toJSON: () => NaN }, "expected a finite number, received NaN"],
];

/** Calls with a value at a path, in the body, the query, the path, and in open objects. */
const CALLS: [string, (client: ReturnType<typeof open>["client"], value: never) => unknown][] = [
  ["olderThan", (client, olderThan) => client.sessions.prune({ olderThan, keepLast: 3 })],
  ["keepLast", (client, keepLast) => client.sessions.prune({ olderThan: 5, keepLast })],
  ["archived", (client, archived) => client.sessions.prune({ archived })],
  ["budget.cost", (client, cost) => client.sessions.create({ budget: { cost } })],
  ["budget", (client, budget) => client.sessions.create({ budget })],
  ["budget.tokens", (client, tokens) => client.sessions.update({ sessionID: "ses_1", budget: { tokens } })],
  [
    "permission[0].effect",
    (client, effect) => client.sessions.create({ permission: [{ action: "bash", resource: "*", effect }] }),
  ],
  [
    "output.retries",
    (client, retries) =>
      client.sessions.prompt({ sessionID: "ses_1", prompt: "x", output: { schema: { type: "object" }, retries } }),
  ],
  [
    "output.schema.properties.n.maximum",
    (client, maximum) =>
      client.sessions.prompt({
        sessionID: "ses_1",
        prompt: "x",
        output: { schema: { type: "object", properties: { n: { maximum } } } },
      }),
  ],
  ["limit", (client, limit) => client.sessions.list({ limit })],
  ["after", (client, after) => client.sessions.history({ sessionID: "ses_1", after })],
  ["sessionID", (client, sessionID) => client.sessions.get({ sessionID })],
  ["size.rows", (client, rows) => client.ptys.update({ ptyID: "pty_1", size: { rows, cols: 80 } })],
  [
    "metadata.a b.n",
    (client, n) =>
      client.permissions.create({ sessionID: "ses_1", action: "a", resources: ["*"], metadata: { "a b": { n } } }),
  ],
  [
    "config.timeout.request",
    (client, request) => client.mcp.add({ name: "x", config: { type: "local", command: ["x"], timeout: { request } } }),
  ],
  ["tools.bash", (client, bash) => client.sessions.run({ prompt: "x", tools: { bash } }).result],
  [
    "output.retries",
    (client, retries) => client.sessions.run({ prompt: "x", output: { schema: { type: "object" }, retries } }).result,
  ],
  [
    "output.schema.properties.n.maximum",
    (client, maximum) =>
      client.sessions.run({ prompt: "x", output: { type: "object", properties: { n: { maximum } } } }).result,
  ],
];

function open() {
  const sent: string[] = [];
  const fetch = async (url: string | URL | Request) => {
    sent.push(String(url));
    return json({ data: [], cursor: { previous: null, next: null } });
  };
  return { client: createClient({ baseUrl: "http://host", fetch: fetch as typeof globalThis.fetch }), sent };
}

const rows = CALLS.flatMap(([field, call]) => LOST.map((lost) => [field, ...lost, call] as const));

test.each(rows)("%s is no %s", async (field, _name, value, expected, call) => {
  const { client, sent } = open();
  const failure = await rejection(call(client, value as never) as Promise<unknown>);
  expect(failure).toMatchObject({ _tag: "InvalidRequestError", message: `${field}: ${expected}`, field });
  expect(sent).toEqual([]);
});

test("streams refuse them, too", async () => {
  const { client, sent } = open();
  for (const stream of [
    client.sessions.events({ sessionID: "ses_1", after: NaN }),
    resumeEvents(client, { sessionID: "ses_1", after: NaN }),
  ]) {
    expect(await rejection(collect(stream))).toMatchObject({ _tag: "InvalidRequestError", field: "after" });
  }
  expect(sent).toEqual([]);
});

test("values that JSON represents are sent", async () => {
  const { client, sent } = open();
  await client.sessions.prune({ olderThan: -0, keepLast: 3, archived: undefined as never });
  await client.sessions.list({ limit: new Date(5) as never, archived: null as never });
  await client.permissions.create({
    sessionID: "ses_1",
    action: "a",
    resources: [],
    metadata: { when: new Date(0), url: new URL("http://host/"), nothing: null, absent: undefined, empty: {} },
  });
  expect(sent.slice(1)).toEqual([
    "http://host/api/session?limit=1970-01-01T00%3A00%3A00.005Z",
    "http://host/api/session/ses_1/permission",
  ]);
});
