// A reply of 20,000 text deltas of a model over HTTP, and of a model that is a function of the program: the time from
// prompt() until the consumer has received the last one.
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const DELTAS = 20_000;
const model = await startModel();
const { host, close } = await openHost(model.config);
const deltas = Array.from({ length: DELTAS }, (_, n) => ` word${n}`);
host.providers.register({
  id: "program",
  models: { m: {} },
  async *stream() {
    for (const text of deltas) yield { type: "text-delta", text };
    yield { type: "finish", reason: "stop" };
  },
});

const samples = { http: [], program: [] };
for (let run = 0; run < 9; run++) {
  await model.reply({ deltas });
  samples.http.push(await measure(undefined));
  samples.program.push(await measure({ providerID: "program", id: "m" }));
}
report("20,000 text deltas of a model over HTTP", "ms", samples.http.slice(2), {});
report("20,000 text deltas of a model of the program", "ms", samples.program.slice(2), {
  atMost: 2 * median(samples.http.slice(2)),
});
await close();
await model.close();

async function measure(chosen) {
  const { id: sessionID } = await host.sessions.create(chosen === undefined ? {} : { model: chosen });
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await live.next();
  let seen = 0;
  const took = await time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Write" } });
    for (;;) {
      const { value } = await live.next();
      if (value.type === "session.next.text.delta") seen++;
      if (value.type === "session.next.step.ended") break;
    }
  });
  if (seen !== DELTAS) throw new Error(`expected ${DELTAS} deltas, saw ${seen}`);
  await live.return();
  return took;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
