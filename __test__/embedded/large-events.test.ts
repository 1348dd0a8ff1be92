import path from "node:path";
import { createClient, resumeEvents } from "../../dist/client/index.js";
import type { OpenCodeClient, OpenCodeHost } from "../../index.js";
import { collect } from "../client/support";
import { run, setUp, setUpSession } from "./support";

const MiB = 1024 * 1024;

const transports: [string, (host: OpenCodeHost) => Promise<OpenCodeClient>][] = [
  ["in memory", async (host) => host],
  [
    "over the network",
    async (host) => {
      const { url, headers } = await host.listen({ maxBodyBytes: 256 * MiB });
      return createClient({ baseUrl: url, headers });
    },
  ],
];

/** The types of the events until the session is idle. */
async function typesUntilIdle(events: AsyncIterable<{ type: string }>) {
  const types: string[] = [];
  for await (const { type } of events) {
    types.push(type);
    if (type === "session.idle") return types;
  }
  throw new Error(`The stream ended after ${types.at(-1)}`);
}

describe.each(transports)("events of many MiB, %s", (_, open) => {
  test.each([
    ["text", { text: `"${"a line\n".repeat(3 * MiB)}` }, "session.next.text.ended"],
    [
      "arguments",
      { tools: [{ name: "write", input: { path: "large.txt", content: "x".repeat(20 * MiB) } }] },
      "session.next.tool.called",
    ],
  ])("streams, reads, exports and imports %s", async (_name, reply, type) => {
    const { setup, model, host, sessionID } = await setUpSession();
    const client = await open(host);
    model.reply(reply);
    // A history of this size is summarised before the next turn.
    if (type === "session.next.tool.called") model.reply({ text: "A large file was written." }, { text: "Done." });
    const live = client.events.subscribe()[Symbol.asyncIterator]();
    await expect(live.next()).resolves.toMatchObject({ value: { type: "server.connected" } });
    const announced = typesUntilIdle({ [Symbol.asyncIterator]: () => live });
    await run(client, sessionID, "Go");
    await expect(announced).resolves.toContain(type);
    const durable = client.sessions.events({ sessionID });
    for await (const event of durable) if (event.type === type) break;
    const resumed = resumeEvents(client, { sessionID });
    for await (const event of resumed) if (event.type === type) break;
    const lines = await collect(client.sessions.export({ sessionID }));
    expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(20 * MiB);
    const other = await setup.open({ database: path.join(setup.root, "other.db") });
    const receiver = await open(other);
    await expect(receiver.sessions.import(lines)).resolves.toMatchObject({ skipped: 0 });
    const again = await collect(receiver.sessions.export({ sessionID }));
    // Not compared by Jest, because it would print them.
    expect(again.length === lines.length && again.every((line, at) => line === lines[at])).toBe(true);
  });
});

test("a context of many MiB is parsed in parts, and has the elements of the whole answer", async () => {
  const setup = await setUp();
  const { model } = setup;
  const host = await setup.open({ config: model.config({ compaction: { auto: false } }) });
  const { id: sessionID } = await host.sessions.create();
  const texts = Array.from({ length: 6 }, (_, at) => `${at} "]},{[\n`.repeat(MiB / 10));
  for (const text of texts) {
    model.reply({ text });
    await run(host, sessionID, "Go on");
  }
  const parse = jest.spyOn(JSON, "parse");
  const context = await host.sessions.context({ sessionID });
  const parsed = parse.mock.calls.map(([text]) => text.length);
  parse.mockRestore();
  expect(Math.max(...parsed)).toBeLessThan(2 * MiB);
  expect(parsed.reduce((sum, length) => sum + length)).toBeGreaterThan(6 * MiB);
  const whole = await host.fetch(new URL(`http://host/api/session/${sessionID}/context`));
  const { data } = (await whole.json()) as { data: unknown[] };
  expect(context).toHaveLength(12);
  expect(JSON.stringify(context) === JSON.stringify(data)).toBe(true);
});
