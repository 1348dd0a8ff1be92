import { mkdirSync } from "node:fs";
import path from "node:path";
import type { OpenCodeHost } from "../../index.js";
import { setUp, type Setup } from "../embedded/support";
import { Contract, readReference, type Answer } from "./contract";
import { normalise } from "./normalise";
import { rows, uncallable, type Place } from "./operations";
import { createSdk, recording, transports, type Transport } from "./support";

const [[, inMemory], [, overNetwork]] = transports as [(typeof transports)[0], (typeof transports)[1]];

/** A project in which every list has an item. */
async function setUpProject() {
  const setup = await setUp();
  for (const folder of ["agent", "command", "skill/weather", "docs"]) {
    mkdirSync(path.join(setup.directory, ".opencode", folder), { recursive: true });
  }
  setup.write(".opencode/agent/reviewer.md", "---\ndescription: Reviews\nmode: subagent\n---\nReview.\n");
  setup.write(".opencode/command/greet.md", "---\ndescription: Greets\n---\nGreet $ARGUMENTS.\n");
  setup.write(".opencode/skill/weather/SKILL.md", "---\nname: weather\ndescription: Tells it\n---\nLook up.\n");
  setup.write(".opencode/opencode.json", JSON.stringify({ references: { docs: "./docs" } }));
  setup.model.reply({ reasoning: "Hm.", deltas: ["Hel", "lo."] });
  return setup;
}

/** Calls each operation once. Returns the answers in the order of the rows. */
async function runRows(setup: Setup, host: OpenCodeHost, transport: Transport): Promise<Answer[]> {
  const { answers, transport: recorded } = recording(transport);
  const v2 = createSdk(recorded, setup.directory);
  const controller = new AbortController();
  const { signal } = controller;
  const { directory } = setup;
  const place: Place = { setup, directory, sessionID: "ses_matrix", messageID: "msg_matrix", ptyID: "", signal };
  const streams: { events: Promise<unknown[]> }[] = [];
  const results: Answer[] = [];
  for (const [operation, expected, call] of rows) {
    const result = await call(v2, place);
    if (expected === "stream") streams.push(await begin(result as AsyncGenerator));
    const answer = answers.splice(0);
    expect([operation, answer]).toEqual([operation, [expect.anything()]]);
    results.push({ operation, ...answer[0]! });
  }
  const read = await Promise.all(streams.map(({ events }) => events));
  controller.abort();
  return results.map((answer) => (answer.type === "text/event-stream" ? { ...answer, body: read.shift() } : answer));
}

/** Waits for the first event of a stream. Then reads in the background to the end of the step. */
async function begin(stream: AsyncGenerator<any>) {
  const events = [(await stream.next()).value];
  const read = async () => {
    while (events.at(-1).type !== "session.next.step.ended") events.push((await stream.next()).value);
    return events;
  };
  return { events: read() };
}

function outcome({ operation, status, type }: Answer) {
  return [operation, type === "text/event-stream" ? "stream" : status];
}

function namesOf({ body }: Answer): string[] {
  return (body as { data: { id?: string; name: string }[] }).data.map(({ id, name }) => id ?? name);
}

async function readOwn(host: OpenCodeHost) {
  const response = await host.fetch("http://any.host/openapi.json");
  return new Contract("own", (await response.json()) as never);
}

test("the rows are the operations of the contract", () => {
  const named = [...rows.map(([operation]) => operation), ...uncallable].map((operation) => `v2.${operation}`);
  expect(named.sort()).toEqual(readReference().operationIds.sort());
});

test("an answer that differs from the contract is reported", () => {
  const json = { type: "application/json", status: 200 };
  const health = { ...json, operation: "health.get", body: { healthy: true } };
  const stream = { status: 200, type: "text/event-stream", operation: "event.subscribe" };
  const connected = { id: "evt_1", type: "server.connected", data: {} };
  const durable = { id: "evt_1", type: "session.next.prompted", data: {} };
  const events = { ...stream, operation: "session.events", body: [durable] };
  const answers: [Answer, number][] = [
    [health, 0],
    [{ ...health, status: 201 }, 1],
    [{ ...health, operation: "health.put" }, 1],
    [{ ...health, type: "text/html" }, 1],
    [{ ...health, type: undefined, body: undefined }, 1],
    [{ ...health, body: { healthy: "yes" } }, 1],
    [{ ...health, body: { healthy: true, more: 1 } }, 1],
    [{ ...health, status: 400, body: { _tag: "InvalidRequestError" } }, 1],
    [{ ...stream, body: [connected, connected] }, 0],
    [{ ...stream, body: [connected, { ...connected, type: "unknown" }] }, 1],
    [events, 1],
  ];
  const contract = readReference();
  const found = answers.map(([answer]) => contract.problems(answer).length);
  expect(found).toEqual(answers.map(([, count]) => count));
});

test.each(transports)("every method is answered as its row declares, %s", async (_, open) => {
  const setup = await setUpProject();
  const host = await setup.open();
  const answers = await runRows(setup, host, await open(host));
  expect(answers.map(outcome)).toEqual(rows.map(([operation, expected]) => [operation, expected]));

  // The validated lists were not empty.
  const lists = ["agent.list", "command.list", "skill.list", "reference.list", "model.list", "provider.list"];
  const listed = answers.filter(({ operation }) => lists.includes(operation)).flatMap(namesOf);
  expect(listed).toEqual(expect.arrayContaining(["reviewer", "greet", "weather", "docs", "m1", "mock"]));

  const contracts = [readReference(), await readOwn(host)];
  expect(contracts.flatMap((contract) => answers.flatMap((answer) => contract.problems(answer)))).toEqual([]);
});

test("memory and network give the same answers", async () => {
  const [one, other] = [await setUpProject(), await setUpProject()];
  const [first, second] = [await one.open(), await other.open()];
  const inMemoryAnswers = await runRows(one, first, await inMemory(first));
  const overNetworkAnswers = await runRows(other, second, await overNetwork(second));
  expect(normalise(overNetworkAnswers, other)).toEqual(normalise(inMemoryAnswers, one));
});
