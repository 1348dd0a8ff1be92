// Tools of the program that return at once: a drain of 24 Provider Turns with one call each, a step with 200 calls, and
// the delay of the event loop while 50 sessions stream and call tools.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const TURNS = 24;
const CALLS = 200;
const SESSIONS = 50;

const model = await startModel();
const { host, close } = await openHost(model.config);
let calls = 0;
host.tools.register({
  name: "count",
  description: "Counts its calls.",
  input: { type: "object", properties: { at: { type: "integer" } } },
  execute() {
    calls += 1;
    return "Counted.";
  },
});
const count = (at) => ({ name: "count", input: { at } });

const chains = [];
for (let run = 0; run < 15; run++) {
  for (let at = 0; at < TURNS; at++) await model.reply({ tools: [count(at)] });
  await model.reply({ text: "Done." });
  chains.push(await turn(TURNS));
}
report("24 turns with one call of a program's tool each", "ms", chains.slice(3), { atMost: 150 });

const steps = [];
for (let run = 0; run < 15; run++) {
  await model.reply({ tools: Array.from({ length: CALLS }, (_, at) => count(at)) }, { text: "Done." });
  steps.push(await turn(CALLS));
}
report("a step of 200 calls of a program's tool", "ms", steps.slice(3), { atMost: 40 });

const replies = Array.from({ length: SESSIONS }, () => ({ tools: [count(0)] }));
const texts = Array.from({ length: SESSIONS }, () => ({
  deltas: Array.from({ length: 200 }, () => "word "),
  delayMs: 1,
}));
await model.reply(...replies, ...texts);
const delay = monitorEventLoopDelay({ resolution: 1 });
const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => host.sessions.create()));
delay.enable();
await Promise.all(
  sessions.map(async ({ id: sessionID }) => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Count" } });
    await host.sessions.wait({ sessionID });
  }),
);
delay.disable();
report("event loop delay, 99th percentile, 50 sessions", "ms", [delay.percentile(99) / 1e6], { atMost: 10 });
await close();
await model.close();

async function turn(expected) {
  const { id: sessionID } = await host.sessions.create();
  const before = calls;
  const took = await time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Count" } });
    await host.sessions.wait({ sessionID });
  });
  if (calls - before !== expected) throw new Error(`expected ${expected} calls, got ${calls - before}`);
  return took;
}
