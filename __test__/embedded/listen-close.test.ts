import { connect } from "node:net";
import { createClient, type Listener } from "../../index.js";
import { rejection } from "../client/support";
import { leavePrompts, setUpListener } from "./listen-support";
import { readHistory, readUntil, subscribe, types } from "./support";

const transport = { name: "ClientError", reason: "Transport" };

/** A listener with a turn that waits at its gate, and every kind of client that can wait for it. */
async function setUpTurn() {
  const setup = await setUpListener();
  const { client, model, sessionID } = setup;
  model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  const live = await subscribe(client);
  const durable = client.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await client.sessions.prompt({ sessionID, prompt: { text: "Tell me a story" } });
  await readUntil(live, "session.next.text.delta");
  await readUntil(durable, "session.next.text.started");
  return { ...setup, live, durable, waiting: await startWaiting(setup.listener, sessionID) };
}

/**
 * Waits for the status of the answer over a new connection. When the server has answered the request before, it has
 * received this one, because both are sent in one piece.
 */
async function startWaiting({ url, headers }: Listener, sessionID: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  const head = `host: localhost\r\nauthorization: ${headers["authorization"]}\r\ncontent-length: 0`;
  const request = (what: string) => `${what} HTTP/1.1\r\n${head}\r\n\r\n`;
  socket.write(request("GET /api/health") + request(`POST /api/session/${sessionID}/wait`));
  const pieces = socket[Symbol.asyncIterator]();
  let text = "";
  const readThrough = async (end: string) => {
    while (!text.includes(end)) {
      const { done, value } = await pieces.next();
      if (done) throw new Error(`The connection ended before ${end}: ${text}`);
      text += value;
    }
    return text;
  };
  await readThrough('{"healthy":true}');
  return { answered: readThrough("HTTP/1.1 204").finally(() => socket.destroy()) };
}

/** True if a listener answers. */
async function answers({ clientUrl }: Listener) {
  return createClient({ baseUrl: clientUrl })
    .health.get()
    .then(
      () => true,
      () => false,
    );
}

test("a closing host sends its network clients the end of all their requests", async () => {
  const { setup, host, live, durable, waiting, sessionID, listener } = await setUpTurn();
  const broken = rejection(readUntil(durable, "session.next.revert.staged"));
  await host.close();
  await waiting.answered;
  expect(types(await readUntil(live, "global.disposed"))).toEqual([
    "text.ended",
    "step.failed",
    "session.status",
    "session.idle",
    "global.disposed",
  ]);
  await expect(live.next()).resolves.toEqual({ done: true, value: undefined });
  await expect(broken).resolves.toMatchObject(transport);
  await expect(answers(listener)).resolves.toBe(false);
  const again = await setup.open();
  expect((await readHistory(again, sessionID)).at(-1)).toMatchObject({ type: "session.next.step.failed" });
});

test("a closing listener breaks streams, finishes answers, and does not affect the host", async () => {
  const { host, model, listener, live, durable, waiting, sessionID, url } = await setUpTurn();
  const closing = listener.close();
  expect(listener.close()).toBe(closing);
  for (const stream of [live, durable]) {
    await expect(rejection(readUntil(stream, "global.disposed"))).resolves.toMatchObject(transport);
  }
  model.release("middle");
  await waiting.answered;
  await closing;
  await expect(answers(listener)).resolves.toBe(false);
  expect((await readHistory(host, sessionID)).at(-1)).toMatchObject({ data: { finish: "stop" } });
  // The port is free again.
  const next = await host.listen({ port: Number(new URL(url).port) });
  await expect(answers(next)).resolves.toBe(true);
});

test("`await using` closes a listener", async () => {
  const { host } = await setUpListener();
  let left: Listener;
  {
    await using scoped = await host.listen();
    left = scoped;
    await expect(answers(left)).resolves.toBe(true);
  }
  await expect(answers(left)).resolves.toBe(false);
});

test("a closed host does not listen, and its listeners are closed", async () => {
  const { host, listener } = await setUpListener();
  const opening = host.listen().then(answers, (error: unknown) => error);
  await host.close();
  await expect(listener.close()).resolves.toBeUndefined();
  const late = await opening;
  if (late !== false) expect(late).toMatchObject(transport);
  await expect(rejection(host.listen())).resolves.toMatchObject(transport);
});

test("a client that does not read does not delay closing", async () => {
  const { host, url, headers, sessionID } = await setUpListener();
  const paths = ["/api/event", `/api/session/${sessionID}/event`];
  const responses = await Promise.all(paths.map((path) => fetch(url + path, { headers })));
  await leavePrompts(host, sessionID, 12, 1_000_000);
  await host.close();
  await Promise.all(responses.map((response) => rejection(response.text())));
});
