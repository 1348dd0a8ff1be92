import { setTimeout as sleep } from "node:timers/promises";
import type { OpenCodeHost, SessionDurableEvent, SessionInputAdmitted } from "../../index.js";
import type { Reply } from "../../testkit/reply.js";
import { createRandom, pick, type Random } from "../random.js";
import { readHistory, readMessages, run, setUp, type Setup } from "../embedded/support";
import { Child } from "./child";

// A process under load is killed repeatedly at random times. It prompts several sessions in all ways, and the sessions
// run turns with deltas and tools. All acknowledged data must be stored after each kill.
//
//   LOAD_KILLS=500 LOAD_SEED=7 npx jest lifecycle/load

const KILLS = Number(process.env.LOAD_KILLS ?? 10);
const SEED = Number(process.env.LOAD_SEED ?? 1);

/** More than one process run needs. */
const REPLIES = 400;
/** The longest time in milliseconds from the first prompt to the kill. Longer if the first receipt takes longer. */
const LONGEST_LIFE = 300;
const SESSIONS = ["ses_one", "ses_two", "ses_three", "ses_four"];

/** No client answers the request whether a model may repeat a call. */
const ALONE = { permissions: { unanswered: "deny" } } as const;

type Receipts = Map<string, SessionInputAdmitted[]>;

function createReply(random: Random): Reply {
  const call = () => ({ name: "read", input: { path: pick(random, ["small.txt", "large.txt", "missing.txt"]) } });
  return {
    ...(random() < 0.3 && { reasoning: "Hm." }),
    deltas: Array.from({ length: 1 + Math.floor(random() * 8) }, (_, n) => ` word${n}`),
    ...(random() < 0.4 && { tools: Array.from({ length: 1 + Math.floor(random() * 3) }, call) }),
    delayMs: Math.floor(random() * 3),
  };
}

/** One run of the process, from its first prompt to its kill. Records the receipts. */
async function liveAndDie(setup: Setup, random: Random, life: number, receipts: Receipts) {
  setup.model.reply(...Array.from({ length: REPLIES }, () => createReply(random)));
  const seed = Math.floor(random() * 2 ** 31);
  const child = new Child("load", { options: setup.options(ALONE), sessions: SESSIONS, life, seed });
  await child.printed("ready");
  const lifetime = random() * LONGEST_LIFE;
  // Waits for a receipt, so that the process was under load also on a busy machine.
  await Promise.all([sleep(lifetime), child.printed("receipt")]);
  child.kill("SIGKILL");
  await expect(child.exited).resolves.toBe("SIGKILL");
  expect(child.errors).toBe("");
  for (const { line, receipt } of child.lines) if (line === "receipt") receipts.get(receipt.sessionID)!.push(receipt);
}

function messageIDs(history: SessionDurableEvent[], type: SessionDurableEvent["type"]) {
  return history.flatMap((event) => (event.type === type && "messageID" in event.data ? [event.data.messageID] : []));
}

/** The calls in order, each with its number of settlements. Fails if a call is open when a step starts. */
function settleCalls(history: SessionDurableEvent[]) {
  const settlements = new Map<string, number>();
  for (const { type, data } of history) {
    if (type === "session.next.step.started")
      expect([...settlements.values()].filter((count) => count !== 1)).toEqual([]);
    if (!("callID" in data && "assistantMessageID" in data)) continue;
    const call = `${data.assistantMessageID} ${data.callID}`;
    const isSettled = type === "session.next.tool.success" || type === "session.next.tool.failed";
    settlements.set(call, (settlements.get(call) ?? 0) + (isSettled ? 1 : 0));
  }
  return [...settlements.values()];
}

/** Checks the invariants that hold at every time, and so after every kill. */
async function expectKept(host: OpenCodeHost, sessionID: string, receipts: readonly SessionInputAdmitted[]) {
  const history = await readHistory(host, sessionID);
  expect(history.map(({ durable }) => durable.seq)).toEqual(history.map((_, index) => index + 1));

  const admitted = messageIDs(history, "session.next.prompt.admitted");
  const prompted = messageIDs(history, "session.next.prompted");
  expect(new Set(admitted).size).toBe(admitted.length);
  expect(new Set(prompted).size).toBe(prompted.length);
  // An acknowledged prompt is either pending, or promoted once.
  const promoted = new Set(prompted);
  const inbox = (await host.sessions.inbox.list({ sessionID })).map(({ id }) => id);
  expect(inbox).toEqual(admitted.filter((id) => !promoted.has(id)));
  const acknowledged = receipts.map(({ id, admittedSeq }) => [admittedSeq, id]);
  expect(acknowledged.map(([seq]) => [seq, idAt(history, Number(seq))])).toEqual(acknowledged);

  settleCalls(history);
  const messages = await readMessages(host, sessionID);
  expect(messages.flatMap(({ type, id }) => (type === "user" ? [id] : []))).toEqual(prompted);
  await expect(host.sessions.context({ sessionID })).resolves.toStrictEqual(messages);
}

function idAt(history: SessionDurableEvent[], seq: number) {
  const event = history[seq - 1];
  return event?.type === "session.next.prompt.admitted" ? event.data.messageID : undefined;
}

/** Checks that the next prompt promotes everything that is pending, and settles interrupted work. */
async function expectGoesOn(host: OpenCodeHost, sessionID: string, life: number) {
  await run(host, sessionID, "Go on", { id: `msg_after_${sessionID}_${life}` });
  const history = await readHistory(host, sessionID);
  // Tool output of an activity may be pruned after its end.
  const last = history.findLast(({ type }) => type !== "session.next.pruned");
  expect(last).toMatchObject({ type: "session.next.step.ended", data: { finish: "stop" } });
  expect(settleCalls(history).filter((count) => count !== 1)).toEqual([]);
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
  const calls = (await readMessages(host, sessionID)).flatMap((message) =>
    message.type === "assistant" ? message.content.filter(({ type }) => type === "tool") : [],
  );
  for (const call of calls)
    expect(call).toMatchObject({ state: { status: expect.stringMatching(/^(completed|error)$/) } });
}

test(
  `keeps all acknowledged data after ${KILLS} kills under load, seed ${SEED}`,
  async () => {
    const random = createRandom(SEED);
    const setup = await setUp();
    setup.write("small.txt", "A line.\n");
    setup.write("large.txt", "A line of a large file.\n".repeat(20_000));
    const receipts: Receipts = new Map(SESSIONS.map((sessionID) => [sessionID, []]));
    for (let life = 1; life <= KILLS; life += 1) {
      await liveAndDie(setup, random, life, receipts);
      const host = await setup.open(ALONE);
      for (const sessionID of SESSIONS) await expectKept(host, sessionID, receipts.get(sessionID)!);
      if (life === KILLS || random() < 0.3) {
        await Promise.all(SESSIONS.map((sessionID) => expectGoesOn(host, sessionID, life)));
        for (const sessionID of SESSIONS) await expectKept(host, sessionID, receipts.get(sessionID)!);
      }
      await host.close();
    }
    // The process was under load.
    expect([...receipts.values()].flat().length).toBeGreaterThan(KILLS);
  },
  60_000 + KILLS * 10_000,
);
