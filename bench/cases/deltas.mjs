// A reply of 20,000 text deltas: the time from prompt() until the consumer has received the last one.
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const DELTAS = 20_000;
const model = await startModel();
const { host, close } = await openHost(model.config);
const deltas = Array.from({ length: DELTAS }, (_, n) => ` word${n}`);
const samples = [];
for (let run = 0; run < 7; run++) {
  const session = await host.sessions.create();
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await live.next();
  await model.reply({ deltas });
  let seen = 0;
  samples.push(
    await time(async () => {
      await host.sessions.prompt({ sessionID: session.id, prompt: { text: "Write" } });
      for (;;) {
        const { value } = await live.next();
        if (value.type === "session.next.text.delta") seen++;
        if (value.type === "session.next.step.ended") break;
      }
    }),
  );
  if (seen !== DELTAS) throw new Error(`expected ${DELTAS} deltas, saw ${seen}`);
  await live.return();
}
report("20,000 text deltas to the consumer", "ms", samples.slice(1), { atMost: 250 });
await close();
await model.close();
