// Replays 20,000 durable events of one session. Also the time until the first.
import { openHost } from "../lib/host.mjs";
import { admit } from "../lib/pending.mjs";
import { report } from "../lib/report.mjs";

const EVENTS = 20_000;
const { host, close } = await openHost(undefined, { limits: { inbox: EVENTS } });
const session = await host.sessions.create();
await admit(host, session.id, EVENTS);
const whole = [];
const first = [];
for (let run = 0; run < 9; run++) {
  const start = performance.now();
  let seen = 0;
  for await (const event of host.sessions.events({ sessionID: session.id })) {
    if (seen === 0) first.push(performance.now() - start);
    if (++seen !== event.durable.seq) throw new Error(`expected sequence ${seen}, got ${event.durable.seq}`);
    if (seen === EVENTS) break;
  }
  whole.push(performance.now() - start);
}
report("replay of 20,000 durable events", "ms", whole.slice(1), { atMost: 80 });
report("first of 20,000 durable events", "ms", first.slice(1), { atMost: 2 });
await close();
