// Sessions created and prompts admitted per second, 32 calls in flight.
import { openHost } from "../lib/host.mjs";
import { report, time } from "../lib/report.mjs";

const CALLS = 4000;
const RUNS = 5;
const IN_FLIGHT = 32;
const { host, close } = await openHost(undefined, { limits: { inbox: RUNS * CALLS } });
const session = await host.sessions.create();
const rates = { create: [], prompt: [] };
for (let run = 0; run < RUNS; run++) {
  rates.create.push(await rate(CALLS / 4, () => host.sessions.create()));
  rates.prompt.push(
    await rate(CALLS, (n) =>
      host.sessions.prompt({ sessionID: session.id, prompt: { text: `Prompt ${run}/${n}` }, resume: false }),
    ),
  );
}
report("sessions created, 32 in flight", "1/s", rates.create);
report("prompts admitted, 32 in flight", "1/s", rates.prompt, { atLeast: 5000 });
await close();

/** Calls per second. */
async function rate(calls, call) {
  let next = 0;
  const lane = async () => {
    while (next < calls) await call(next++);
  };
  const ms = await time(() => Promise.all(Array.from({ length: IN_FLIGHT }, lane)));
  return (calls / ms) * 1000;
}
