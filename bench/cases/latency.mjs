// Live deltas at 2,000 per second: the time from the write of the model server until the consumer has received the
// delta, and the processor time of this process per delta.
import { openHost } from "../lib/host.mjs";
import { startPacedModel } from "../lib/model.mjs";
import { median, report } from "../lib/report.mjs";

const DELTAS = 6000;
const PER_SECOND = 2000;
const model = await startPacedModel({ deltas: DELTAS, perSecond: PER_SECOND });
const { host, close } = await openHost(model.config);
const latency = [];
const processor = [];
for (let run = 0; run < 4; run++) {
  const seen = await turn();
  if (run === 0) continue;
  latency.push(median(seen.latency));
  processor.push(seen.processor);
}
report("live delta at 2,000 a second, median", "ms", latency, { atMost: 0.3 });
report("processor time for a live delta", "us", processor, { atMost: 60 });
await close();
await model.close();

async function turn() {
  const { id: sessionID } = await host.sessions.create();
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await live.next();
  await host.sessions.prompt({ sessionID, prompt: { text: "Write" } });
  const samples = [];
  let before;
  for (;;) {
    const { value } = await live.next();
    if (value.type === "session.next.step.ended") break;
    if (value.type !== "session.next.text.delta") continue;
    before ??= process.cpuUsage();
    samples.push(now() - Number(value.data.delta));
  }
  const { user, system } = process.cpuUsage(before);
  await live.return();
  if (samples.length !== DELTAS) throw new Error(`expected ${DELTAS} deltas, saw ${samples.length}`);
  return { latency: samples, processor: (user + system) / DELTAS };
}

/** Milliseconds on a clock that both processes share. */
function now() {
  return performance.timeOrigin + performance.now();
}
