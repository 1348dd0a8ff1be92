import type { OpenCodeHost, SessionDurableEvent } from "../../index.js";
import type { Reply } from "../../testkit/reply.js";
import { createRandom, pick, type Random } from "../random.js";
import { readHistory, readMessages, setUp, type Setup } from "./support";

// Sessions are prompted, interrupted and reopened in random order, with a model that gives random replies. The exact
// sequence depends on timing. The invariants at the end do not.

const sessionID = "ses_simulated";

function createReply(random: Random): Reply {
  const call = () => ({
    name: pick(random, ["read", "read", "teleport", "bash"]),
    input: pick(random, [{ path: "a.txt" }, { path: "missing" }, {}, "[]", "{half"]),
  });
  const spoken: Reply = {
    ...(random() < 0.3 && { reasoning: "Hm." }),
    ...(random() < 0.8 && { deltas: ["One", "Two"] }),
    ...(random() < 0.4 && { tools: Array.from({ length: 1 + Math.floor(random() * 3) }, call) }),
  };
  return pick<Reply>(random, [
    spoken,
    spoken,
    spoken,
    { ...spoken, delayMs: 1 },
    { ...spoken, cut: true },
    { status: pick(random, [400, 401, 404]) },
    { raw: pick(random, ["", "data: {half\n\n", 'data: {"choices":[{"delta":{"content":"No finish"}}]}\n\n']) },
  ]);
}

/**
 * Performs a random action on the session. `calls` collects calls that are not awaited yet. Returns the current host.
 */
async function act(setup: Setup, host: OpenCodeHost, random: Random, id: string, calls: Promise<unknown>[]) {
  const action = random();
  const now = random() < 0.6;
  if (action < 0.5) {
    const delivery = pick(random, ["steer", "queue"] as const);
    calls.push(host.sessions.prompt({ sessionID, id, prompt: { text: id }, delivery, resume: random() < 0.8 }));
    if (now) await calls.at(-1);
  } else if (action < 0.7) {
    calls.push(host.sessions.interrupt({ sessionID }));
    if (now) await calls.at(-1);
  } else if (action < 0.8) {
    await host.sessions.wait({ sessionID });
  } else if (action < 0.9) {
    await readMessages(host, sessionID);
  } else {
    await Promise.all(calls.splice(0));
    await host.close();
    return setup.open();
  }
  return host;
}

/** Prompts until a prompt is answered completely. All earlier prompts are answered before it. */
async function settle(host: OpenCodeHost) {
  for (let round = 0; ; round += 1) {
    await host.sessions.prompt({ sessionID, id: `msg_settle_${round}`, prompt: { text: "Go on" } });
    await host.sessions.wait({ sessionID });
    const history = await readHistory(host, sessionID);
    const isPromoted = messageIDs(history, "admitted").length === messageIDs(history, "prompted").length;
    if (isPromoted && history.at(-1)?.type === "session.next.step.ended") return history;
    expect(round).toBeLessThan(60);
  }
}

function messageIDs(history: SessionDurableEvent[], kind: string) {
  return history.flatMap(({ type, data }) => (type.endsWith(kind) && "messageID" in data ? [data.messageID] : []));
}

/** Number of settlements of each call. */
function settlements(history: SessionDurableEvent[]) {
  const counts = new Map<string, number>();
  for (const { type, data } of history) {
    if (!("callID" in data && "assistantMessageID" in data)) continue;
    const call = `${data.assistantMessageID} ${data.callID}`;
    const isSettled = type === "session.next.tool.success" || type === "session.next.tool.failed";
    counts.set(call, (counts.get(call) ?? 0) + (isSettled ? 1 : 0));
  }
  return [...counts.values()];
}

test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))("seed %i", async (seed) => {
  const random = createRandom(seed);
  const setup = await setUp();
  setup.write("a.txt", "A");
  setup.model.reply(...Array.from({ length: 60 }, () => createReply(random)));
  let host = await setup.open();
  await host.sessions.create({ id: sessionID });
  const calls: Promise<unknown>[] = [];
  for (let step = 0; step < 30; step += 1) host = await act(setup, host, random, `msg_${step}`, calls);
  await Promise.all(calls);

  const history = await settle(host);
  expect(history.map(({ durable }) => durable.seq)).toEqual(history.map((_, index) => index + 1));
  const prompted = messageIDs(history, "prompted");
  expect(new Set(prompted).size).toBe(prompted.length);
  expect(prompted.toSorted()).toEqual(messageIDs(history, "admitted").toSorted());
  const users = (await readMessages(host, sessionID)).filter(({ type }) => type === "user");
  expect(users.map(({ id }) => id)).toEqual(prompted);
  expect(settlements(history).filter((count) => count !== 1)).toEqual([]);
});
