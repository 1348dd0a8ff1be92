// The flow of events from a model to the native host, which is a fake here.

import { EventBatches } from "../../dist/host/model-events";
import { Program } from "../../dist/host/program";
import type { NativeConnection } from "../../dist/host/connection";
import type { ProgramCall, ProgramNotice } from "../../dist/host/program";
import { deferred } from "./support";

/** Starts a call, and returns it with the messages that the native host receives and a function that notifies it. */
async function startCall() {
  const messages: string[] = [];
  let notify!: (notice: ProgramNotice) => void;
  const connection = {
    attendCalls: (receive: typeof notify) => (notify = receive),
    answer: (_id: number, message: string) => messages.push(message),
  };
  const program = new Program(connection as unknown as NativeConnection);
  const started = deferred<ProgramCall>();
  program.define("model", (_input, call) => {
    started.resolve(call);
    return new Promise(() => {});
  });
  notify({ call: { id: 1, function: "model", input: {} } });
  return { messages, notify, call: await started.promise };
}

const delta = (text: string) => ({ type: "text-delta", text }) as const;

test("events of one turn of the event loop are one batch", async () => {
  const { messages, call } = await startCall();
  const batches = new EventBatches(call);
  expect(batches.add(delta("a"))).toBeUndefined();
  batches.add(delta("b"));
  expect(messages).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(messages.map((message) => JSON.parse(message))).toEqual([{ events: [delta("a"), delta("b")] }]);
});

test("the halves of a character that two deltas share reach the native host", async () => {
  const { messages, call } = await startCall();
  const batches = new EventBatches(call);
  batches.add(delta("a\ud83d"));
  batches.add(delta("\ude00b"));
  batches.flush();
  expect(messages.join("")).toContain("a\\ud83d");
  expect(messages.map((message) => JSON.parse(message))).toEqual([{ events: [delta("a\ud83d"), delta("\ude00b")] }]);
});

test("a long batch is sent at once", async () => {
  const { messages, call } = await startCall();
  new EventBatches(call).add(delta("a".repeat(70_000)));
  expect(messages).toHaveLength(1);
});

test("the model waits while the native host has many batches", async () => {
  const { notify, call } = await startCall();
  const batches = new EventBatches(call);
  let added = 0;
  let room: Promise<void> | undefined;
  for (; room === undefined && added < 1_000_000; added += 1) room = batches.add(delta("a"));
  expect(added).toBeLessThan(20_000);
  let hasRoom = false;
  const waiting = room?.then(() => (hasRoom = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasRoom).toBe(false);
  notify({ taken: 1 });
  await waiting;
  expect(batches.add(delta("a"))).toBeUndefined();
});

test("the end of a call ends the wait and drops later events", async () => {
  const { messages, notify, call } = await startCall();
  const batches = new EventBatches(call);
  let room: Promise<void> | undefined;
  while (room === undefined) room = batches.add(delta("a"));
  const sent = messages.length;
  notify({ ended: 1 });
  await expect(room).rejects.toThrow("The call has ended");
  batches.add(delta("b"));
  batches.flush();
  expect(messages).toHaveLength(sent);
});
