// One working session with 50 readers of its durable stream, compared with one reader: the time from the prompt until
// every reader has received the last event.
import { openHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { median, report } from "../lib/report.mjs";

const READERS = { one: 1, fifty: 50 };
const model = await startSteadyModel({ deltas: Array.from({ length: 2000 }, (_, n) => ` word${n}`) });
const { host, close } = await openHost(model.config);
const samples = { one: [], fifty: [] };
for (let run = 0; run < 30; run++) {
  for (const [name, readers] of Object.entries(READERS)) samples[name].push(await turn(readers));
}
const [one, fifty] = [samples.one.slice(5), samples.fifty.slice(5)];
report("turn of 2,000 deltas with 1 durable reader", "ms", one);
report("turn of 2,000 deltas with 50 durable readers", "ms", fifty);
report("ratio of the second to the first", "x", [median(fifty) / median(one)], { atMost: 2 });
await close();
await model.close();

async function turn(readers) {
  const { id: sessionID } = await host.sessions.create();
  const streams = Array.from({ length: readers }, () => host.sessions.events({ sessionID })[Symbol.asyncIterator]());
  // Every stream is open and waits before the prompt is sent.
  const first = streams.map((stream) => stream.next());
  const start = performance.now();
  await host.sessions.prompt({ sessionID, prompt: { text: "Write" } });
  await Promise.all(streams.map((stream, n) => followed(stream, first[n])));
  const took = performance.now() - start;
  await host.sessions.wait({ sessionID });
  return took;
}

async function followed(stream, first) {
  for (let { value } = await first; value.type !== "session.next.step.ended";) ({ value } = await stream.next());
  await stream.return();
}
