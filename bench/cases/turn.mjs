// The time from prompt() to a settled session, with a model that answers at once.
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const model = await startModel();
const { host, close } = await openHost(model.config);
const session = await host.sessions.create();
const samples = [];
for (let run = 0; run < 60; run++) {
  await model.reply({ text: "Done." });
  samples.push(
    await time(async () => {
      await host.sessions.prompt({ sessionID: session.id, prompt: { text: "Go" } });
      await host.sessions.wait({ sessionID: session.id });
    }),
  );
}
report("prompt to settled", "ms", samples.slice(10), { atMost: 4 });
await close();
await model.close();
