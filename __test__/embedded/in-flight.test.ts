// All operations that a turn can wait for, at once. Each way to end the turn ends all of them.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AssistantPartTool, OpenCodeEvent, OpenCodeHost } from "../../index.js";
import { Alive, HOLD, LIMIT_WITHOUT_GRACE_MS } from "./processes";
import { readMessages, readTranscript, run, setUpSession, subscribe } from "./support";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A server that accepts requests and never answers, and the end of its first request. */
async function serveNothing() {
  const server = createServer();
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connected = once(server, "connection").then(([socket]) => ({ closed: once(socket, "close") }));
  return { url: `http://127.0.0.1:${port}/`, connected };
}

const QUESTION = { question: "Which?", header: "Which", options: [{ label: "This", description: "one" }] };

/** A session whose turn runs a command, a task, a question, a permission request and a download. */
async function everythingUnderWay() {
  const started = await setUpSession();
  const { setup, model, host, sessionID } = started;
  const alive = new Alive(setup.directory);
  const { url, connected } = await serveNothing();
  setup.write(".env", "SECRET=1");
  const live = await subscribe(host);
  const tools = [
    { name: "bash", input: { command: `${HOLD} trap '' TERM; echo a >&3; sleep 1000; sleep 1000` } },
    { name: "task", input: { description: "Some work", prompt: "Work", agent: "general" } },
    { name: "question", input: { questions: [QUESTION] } },
    { name: "read", input: { path: ".env" } },
    { name: "webfetch", input: { url } },
    { name: "glob", input: { pattern: "*.none" } },
  ];
  model.reply({ tools }, { deltas: ["Half ", "a word"], gate: "child" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Do everything" } });
  const asked = readAll(live, [
    "permission.v2.asked",
    "question.v2.asked",
    "session.next.tool.success",
    // The child session has the beginning of its answer, which the model alone does not show.
    "session.next.text.delta",
  ]);
  const [{ closed }] = await Promise.all([connected, asked, model.reached("child"), alive.wrote(1)]);
  const [child] = await host.sessions.children({ sessionID });
  return { ...started, alive, closed, childID: child?.id ?? "" };
}

/** Reads until an event of each of these types has arrived, in any order. */
async function readAll(events: AsyncIterator<OpenCodeEvent>, types: readonly string[]) {
  const missing = new Set(types);
  while (missing.size > 0) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The stream ended before ${[...missing].join(", ")}`);
    missing.delete(value.type);
  }
}

async function readTools(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.filter((part): part is AssistantPartTool => part.type === "tool");
}

/** The state after the end: the calls, and the text of the child. */
async function left(host: OpenCodeHost, { sessionID, childID }: { sessionID: string; childID: string }) {
  const tools = await readTools(host, sessionID);
  return {
    calls: tools.map(({ name, state }) => `${name}: ${state.status === "error" ? state.error.message : state.status}`),
    child: await readTranscript(host, childID),
    permissions: (await host.permissions.listRequests()).data,
    questions: (await host.questions.listRequests()).data,
    active: await host.sessions.active(),
    interrupted: await host.sessions.interrupted(),
  };
}

const INTERRUPTED = "Tool execution interrupted";
const NOTHING_LEFT = {
  calls: [
    `bash: ${INTERRUPTED}`,
    `task: ${INTERRUPTED}`,
    `question: ${INTERRUPTED}`,
    `read: ${INTERRUPTED}`,
    `webfetch: ${INTERRUPTED}`,
    "glob: completed",
  ],
  child: ["user: Work", "assistant: Half "],
  permissions: [],
  questions: [],
  active: {},
  interrupted: [],
};

test("an interruption settles all running operations, and the session continues", async () => {
  const started = await everythingUnderWay();
  const { host, model, sessionID, alive, closed } = started;
  const since = Date.now();
  await host.sessions.interrupt({ sessionID });
  await Promise.all([alive.ended(), closed]);
  expect(Date.now() - since).toBeLessThan(LIMIT_WITHOUT_GRACE_MS);
  expect(await left(host, started)).toEqual(NOTHING_LEFT);
  model.reply({ text: "Here." });
  await run(host, sessionID, "Go on");
  expect((await readTranscript(host, sessionID)).slice(-2)).toEqual(["user: Go on", "assistant: Here."]);
});

test("closing settles all running operations, and leaves nothing open in the file", async () => {
  const started = await everythingUnderWay();
  const { setup, host, alive, closed } = started;
  const since = Date.now();
  await host.close();
  await Promise.all([alive.ended(), closed]);
  expect(Date.now() - since).toBeLessThan(LIMIT_WITHOUT_GRACE_MS);
  expect(await left(await setup.open(), started)).toEqual(NOTHING_LEFT);
});

test("an interruption at the same time as a double close does no harm", async () => {
  const started = await everythingUnderWay();
  const { setup, host, sessionID, childID, alive, closed } = started;
  const since = Date.now();
  const ends = [
    host.sessions.interrupt({ sessionID }),
    host.sessions.interrupt({ sessionID: childID }),
    host.close(),
    host.close(),
  ];
  await Promise.all([...ends, alive.ended(), closed]);
  expect(Date.now() - since).toBeLessThan(LIMIT_WITHOUT_GRACE_MS);
  const after = await left(await setup.open(), started);
  // The interruption of the child may be first. Then the call of its parent reports it.
  const calls = after.calls.map((call) => call.replace(/^task: Unable to run task.*$/s, `task: ${INTERRUPTED}`));
  expect({ ...after, calls }).toEqual(NOTHING_LEFT);
});
