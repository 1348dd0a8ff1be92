// 100,000 sessions: the first page of lists, removals of a session of 5,000 messages, forks of it, and a prune of 1,000
// sessions. Another session answers prompts during the removals and the prune.
import { openHost } from "../lib/host.mjs";
import { longSessions } from "../lib/long-session.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const SESSIONS = 100_000;
const MESSAGES = 5000;
const RUNS = 5;
const model = await startSteadyModel({ text: "Done." });
const { host, close } = await openHost(model.config);

const { id: other } = await host.sessions.create();
const { id: parentID } = await host.sessions.create();
const turn = async () => {
  await host.sessions.prompt({ sessionID: other, prompt: "Go" });
  await host.sessions.wait({ sessionID: other });
};
await turn();
const importLong = await longSessions(host, other);
for (let at = 0; at < SESSIONS; at += 500) {
  const numbers = Array.from({ length: 500 }, (_, n) => at + n);
  await Promise.all(
    numbers.map(async (n) => {
      const title = `Session ${n}`;
      const { id: sessionID } = await host.sessions.create(n % 100 === 0 ? { title, parentID } : { title });
      if (n % 2 === 0) await host.sessions.update({ sessionID, archived: true });
    }),
  );
}

const lists = {
  all: {},
  archived: { archived: true },
  roots: { roots: true },
  "current roots": { archived: false, roots: true },
  "children of one": { parentID },
  "a title that many have": { search: "session 9" },
};
for (const [name, filter] of Object.entries(lists)) {
  const samples = [];
  for (let run = 0; run < 20; run++) {
    samples.push(
      await time(async () => {
        const { items } = await host.sessions.list({ limit: 50, ...filter });
        if (items.length !== 50) throw new Error(`a page has ${items.length} items`);
      }),
    );
  }
  report(`first page of 100,000 sessions: ${name}`, "ms", samples.slice(5), { atMost: 2 });
}

const alone = [];
for (let run = 0; run < 50; run++) alone.push(await time(turn));
const [removals, forks, beside] = [[], [], []];
for (let run = 0; run < RUNS; run++) {
  const sessionID = await importLong(MESSAGES);
  const turns = repeat(turn);
  let fork;
  forks.push(await time(async () => (fork = await host.sessions.fork({ sessionID }))));
  removals.push(await time(() => host.sessions.remove({ sessionID: fork.id })));
  removals.push(await time(() => host.sessions.remove({ sessionID })));
  beside.push(...(await turns.stop()));
}
report("turn alone", "ms", alone);
report("fork of 5,000 messages", "ms", forks, { atMost: 3000 });
report("removal of 5,000 messages", "ms", removals, { atMost: 100 });
report("turn beside forks and removals", "ms", beside, { atMost: 50 });

const turns = repeat(turn);
const prunes = [];
for (let run = 0; run < RUNS; run++) {
  prunes.push(
    await time(async () => {
      const { removed } = await host.sessions.prune({ keepLast: 1000, archived: true });
      if (removed !== 1000) throw new Error(`${removed} sessions were removed`);
    }),
  );
}
report("prune of 1,000 sessions", "ms", prunes, { atMost: 10_000 });
report("turn beside a prune", "ms", await turns.stop(), { atMost: 50 });
report("use of the storage", "ms", [await time(() => host.storage.stats())], { atMost: 200 });
await close();
await model.close();

/** Repeats the work until it is stopped, and returns the times. */
function repeat(work) {
  const samples = [];
  const state = { isOver: false };
  const running = (async () => {
    while (!state.isOver) samples.push(await time(work));
  })();
  return {
    async stop() {
      state.isOver = true;
      await running;
      return samples;
    },
  };
}
