// 5,000 pending prompts promoted together: the time from the prompt that wakes the session until a consumer has
// received the last promotion, and until the model receives the request that contains all of them.
import { openHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { admit } from "../lib/pending.mjs";
import { report } from "../lib/report.mjs";

const PENDING = 5000;
const model = await startSteadyModel({ text: "Done." });
const { host, close } = await openHost(model.config);
const promoted = [];
const requested = [];
for (let run = 0; run < 6; run++) {
  const { id: sessionID } = await host.sessions.create();
  await admit(host, sessionID, PENDING - 1);
  const events = host.sessions.events({ sessionID, after: PENDING - 1 })[Symbol.asyncIterator]();
  const request = model.requested();
  const start = performance.now();
  const woken = host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  const arrival = request.then(() => performance.now() - start);
  for (let left = PENDING; left > 0;) {
    const { value } = await events.next();
    if (value.type === "session.next.prompted") left--;
  }
  promoted.push(performance.now() - start);
  requested.push(await arrival);
  await woken;
  await events.return();
  await host.sessions.wait({ sessionID });
}
report("promotion of 5,000 prompts, the last event read", "ms", promoted.slice(1), { atMost: 150 });
report("promotion of 5,000 prompts, the request at the model", "ms", requested.slice(1));
await close();
await model.close();
