// The time for one page in memory: 50 sessions among 5,000, and 50 messages among 2,000.
import { openHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { admit } from "../lib/pending.mjs";
import { report, time } from "../lib/report.mjs";

const SESSIONS = 5000;
const MESSAGES = 2000;
const PAGE = 50;
const model = await startSteadyModel({ text: "Done." });
const { host, close } = await openHost(model.config);

const { id: sessionID } = await host.sessions.create();
// The prompt that wakes the session, and the answer, are two of the messages.
await admit(host, sessionID, MESSAGES - 2);
await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
await host.sessions.wait({ sessionID });
for (let at = 1; at < SESSIONS; at += 500) {
  await Promise.all(Array.from({ length: Math.min(500, SESSIONS - at) }, () => host.sessions.create()));
}

report(
  "page of 50 among 5,000 sessions",
  "ms",
  await pages((cursor) => host.sessions.list(cursor ?? { limit: PAGE })),
  {
    atMost: 0.5,
  },
);
const messages = (cursor) => host.sessions.messages({ sessionID, ...(cursor ?? { limit: PAGE }) });
report("page of 50 among 2,000 messages", "ms", await pages(messages), { atMost: 0.5 });
await close();
await model.close();

/** Reads all pages from the first on, several times. */
async function pages(read) {
  const samples = [];
  for (let run = 0; run < 10; run++) {
    let cursor;
    for (;;) {
      let page;
      const took = await time(async () => (page = await read(cursor)));
      if (page.items.length === 0) break;
      if (page.items.length !== PAGE) throw new Error(`a page has ${page.items.length} items`);
      if (run > 0) samples.push(took);
      cursor = { cursor: page.next };
    }
  }
  return samples;
}
