// 100 sessions prompted at once, each answered in 20 deltas: the time until the last session is idle, and until the
// first is idle, which must not have waited for the others.
import { openHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { report } from "../lib/report.mjs";

const SESSIONS = 100;
const DELTAS = 20;
const model = await startSteadyModel({ deltas: Array.from({ length: DELTAS }, (_, n) => ` word${n}`) });
const { host, close } = await openHost(model.config);
const first = [];
const all = [];
for (let run = 0; run < 10; run++) {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => host.sessions.create()));
  const start = performance.now();
  const settled = await Promise.all(
    sessions.map(async ({ id: sessionID }) => {
      await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
      await host.sessions.wait({ sessionID });
      return performance.now() - start;
    }),
  );
  first.push(Math.min(...settled));
  all.push(Math.max(...settled));
  if (Object.keys(await host.sessions.active()).length > 0) throw new Error("a session is still active");
}
report("100 sessions prompted at once, all idle", "ms", all.slice(2), { atMost: 500 });
report("100 sessions prompted at once, the first idle", "ms", first.slice(2), { atMost: 250 });
await close();
await model.close();
