// Properties of failures and values that programs rely on, in every realm of a test runner. A second copy of the
// package is installed, as indirect dependencies may install it.

import assert from "node:assert";
import {
  ClientError,
  createClient,
  isClientError,
  isSessionNotFoundError,
  isTagged,
  OpenCode,
} from "opencode-embedded";
import type { OpenCodeHost } from "opencode-embedded";
import * as client from "opencode-embedded/client";
import * as copy from "second-copy";

export const checks: [name: string, check: () => Promise<void>][] = [
  ["a declared failure is an error of this realm with the fields of the wire format", declaredFailure],
  ["guards recognise the failures of another copy", guardsOfAnotherCopy],
  ["a call without an answer is a ClientError of this copy", clientError],
  ["the reason of an abort is the cause", aborted],
  ["an invalid option is a declared failure", wrongOption],
  ["values consist of arrays and objects of this realm", values],
  ["streams end when the loop is left", streams],
];

async function withHost(use: (host: OpenCodeHost) => Promise<void>, open: typeof OpenCode = OpenCode): Promise<void> {
  const host = await open.create({ database: ":memory:" });
  try {
    await use(host);
  } finally {
    await host.close();
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail("The promise did not reject");
}

const sessionID = "ses_none";
const missing = { _tag: "SessionNotFoundError", sessionID, message: `Session not found: ${sessionID}` };

async function declaredFailure(): Promise<void> {
  await withHost(async (host) => {
    const overFetch = createClient({ baseUrl: "http://opencode.local", fetch: host.fetch });
    for (const opencode of [host, overFetch]) {
      const error = await failureOf(opencode.sessions.get({ sessionID }));
      assert.ok(error instanceof Error);
      assert.ok(isSessionNotFoundError(error));
      assert.deepStrictEqual({ ...error }, missing);
      assert.strictEqual(JSON.stringify(error), JSON.stringify(missing));
      assert.match(String(error.stack), /Session not found: ses_none\n +at /);
      await assert.rejects(opencode.sessions.get({ sessionID }), Error);
      await assert.rejects(opencode.sessions.get({ sessionID }), { _tag: "SessionNotFoundError" });
    }
  });
}

async function guardsOfAnotherCopy(): Promise<void> {
  assert.notStrictEqual(copy.ClientError, ClientError);
  for (const [mine, theirs] of [
    [OpenCode, copy],
    [copy.OpenCode, client],
  ] as const) {
    const host = await mine.create({ database: ":memory:" });
    const tagged = await failureOf(host.sessions.get({ sessionID }));
    assert.ok(theirs.isSessionNotFoundError(tagged));
    assert.ok(theirs.isTagged(tagged, "SessionNotFoundError"));
    assert.ok(!theirs.isConflictError(tagged) && !theirs.isClientError(tagged));
    await host.close();
    const closed = await failureOf(host.health.get());
    assert.ok(theirs.isClientError(closed));
    assert.ok(!(closed instanceof theirs.ClientError));
  }
}

async function clientError(): Promise<void> {
  const unreachable = createClient({ baseUrl: "http://host", fetch: () => Promise.reject(new Error("refused")) });
  const error = await failureOf(unreachable.health.get());
  assert.ok(error instanceof ClientError && error instanceof Error && isClientError(error));
  assert.strictEqual(client.ClientError, ClientError);
  assert.deepStrictEqual([error.name, error.reason, Object.keys(error)], ["ClientError", "Transport", ["reason"]]);
}

async function aborted(): Promise<void> {
  await withHost(async (host) => {
    const reason = { stop: true };
    const signal = AbortSignal.abort(reason);
    for (const call of [host.health.get({ signal }), firstOf(host.events.subscribe({ signal }))]) {
      const error = await failureOf(call);
      assert.ok(isClientError(error) && error.cause === reason);
    }
  });
}

async function firstOf<T>(iterable: AsyncIterable<T>): Promise<T> {
  for await (const first of iterable) return first;
  return assert.fail("Nothing came");
}

async function wrongOption(): Promise<void> {
  const options: object = { databse: "x" };
  const error = await failureOf(OpenCode.create(options));
  assert.ok(error instanceof Error && isTagged(error, "InvalidOptionError"));
  assert.strictEqual(error.option, "databse");
}

async function values(): Promise<void> {
  await withHost(async (host) => {
    const session = await host.sessions.create();
    const messages = await host.sessions.context({ sessionID: session.id });
    assert.strictEqual(Object.getPrototypeOf(messages), Array.prototype);
    assert.strictEqual(Object.getPrototypeOf(session), Object.prototype);
    assert.strictEqual(Object.getPrototypeOf(host.sessions.list()), Promise.prototype);
    const { items } = await host.sessions.list();
    assert.deepStrictEqual(items, [session]);
  });
}

async function streams(): Promise<void> {
  await withHost(async (host) => {
    assert.strictEqual((await firstOf(host.events.subscribe())).type, "server.connected");
    const { id } = await host.sessions.create();
    await host.sessions.switchAgent({ sessionID: id, agent: "plan" });
    const event = await firstOf(client.resumeEvents(host, { sessionID: id }));
    assert.strictEqual(event.durable.seq, 1);
  });
}
