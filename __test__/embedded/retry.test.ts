import type { SessionsPromptInput } from "../../index.js";
import { rejection } from "../client/support";
import { readHistory, readTranscript, run, setUpSession } from "./support";

const id = "msg_retry";

test("returns the first receipt if the same prompt is sent again", async () => {
  const { host, sessionID } = await setUpSession();
  const input = { sessionID, id, prompt: { text: "Hi" }, resume: false } as const;
  const first = await host.sessions.prompt(input);
  await expect(host.sessions.prompt(input)).resolves.toStrictEqual(first);
  await expect(readHistory(host, sessionID)).resolves.toHaveLength(1);
});

test("admits five simultaneous copies once", async () => {
  const { host, model, sessionID } = await setUpSession();
  const input = { sessionID, id, prompt: { text: "Hi" } };
  const receipts = await Promise.all([1, 2, 3, 4, 5].map(() => host.sessions.prompt(input)));
  expect(new Set(receipts.map(({ admittedSeq }) => admittedSeq)).size).toBe(1);
  await host.sessions.wait({ sessionID });
  expect(model.requests).toHaveLength(1);
  expect((await readTranscript(host, sessionID)).filter((line) => line.startsWith("user"))).toEqual(["user: Hi"]);
});

test("a retry after the turn reports the promotion, and starts no turn", async () => {
  const { host, model, sessionID } = await setUpSession();
  const first = await run(host, sessionID, "Hi", { id });
  const again = await run(host, sessionID, "Hi", { id });
  expect(again).toStrictEqual({ ...first, promotedSeq: 2 });
  expect(model.requests).toHaveLength(1);
});

test("a retry wakes a prompt that was admitted without a wake", async () => {
  const { host, model, sessionID } = await setUpSession();
  await run(host, sessionID, "Hi", { id, resume: false });
  expect(model.requests).toHaveLength(0);
  await run(host, sessionID, "Hi", { id });
  expect(model.requests).toHaveLength(1);
});

describe("the id of another record is a conflict and stores nothing", () => {
  const conflicts: [string, Partial<SessionsPromptInput>][] = [
    ["another text", { prompt: { text: "Ho" } }],
    ["another delivery", { delivery: "queue" }],
    ["an empty list of files", { prompt: { text: "Hi", files: [] } }],
  ];
  test.each(conflicts)("%s", async (_, other) => {
    const { host, sessionID } = await setUpSession();
    const input = { sessionID, id, prompt: { text: "Hi" }, resume: false };
    await host.sessions.prompt(input);
    const before = await readHistory(host, sessionID);
    const error = await rejection(host.sessions.prompt({ ...input, ...other }));
    expect(JSON.parse(JSON.stringify(error))).toStrictEqual({
      _tag: "ConflictError",
      message: expect.stringContaining(id),
      resource: id,
    });
    await expect(readHistory(host, sessionID)).resolves.toStrictEqual(before);
  });

  test("a prompt of another session", async () => {
    const { host, sessionID } = await setUpSession();
    const other = await host.sessions.create();
    await host.sessions.prompt({ sessionID, id, prompt: { text: "Hi" }, resume: false });
    const input = { sessionID: other.id, id, prompt: { text: "Hi" }, resume: false };
    await expect(host.sessions.prompt(input)).rejects.toMatchObject({ _tag: "ConflictError", resource: id });
    await expect(readHistory(host, other.id)).resolves.toEqual([]);
  });

  test("an answer of the model", async () => {
    const { host, sessionID } = await setUpSession();
    await run(host, sessionID, "Hi");
    const { items } = await host.sessions.messages({ sessionID, limit: 1 });
    const input = { sessionID, id: items[0]!.id, prompt: { text: "Hi" } };
    await expect(host.sessions.prompt(input)).rejects.toMatchObject({ _tag: "ConflictError", resource: items[0]!.id });
  });
});
