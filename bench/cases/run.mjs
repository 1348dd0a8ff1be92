// The time from run() to its result, with a model that answers at once.
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const model = await startModel();
const { host, close } = await openHost(model.config);
const session = await host.sessions.create();
const samples = [];
for (let run = 0; run < 60; run++) {
  await model.reply({ text: "Done." });
  samples.push(await time(() => host.sessions.run({ sessionID: session.id, prompt: "Go" }).result));
}
report("run to result", "ms", samples.slice(10), { atMost: 8 });
await close();
await model.close();
