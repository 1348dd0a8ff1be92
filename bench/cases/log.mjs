// The time from prompt() to a settled session without a log, with a function that receives warnings (there are none),
// and with a function that receives all entries.
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const model = await startModel();
for (const [name, log] of [
  ["no log", "off"],
  ["a sink for warnings", () => {}],
  ["a sink for all entries", { level: "trace", sink: () => {} }],
]) {
  const { host, close } = await openHost(model.config, { log });
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
  report(`prompt to settled, ${name}`, "ms", samples.slice(10), { atMost: 4 });
  await close();
}
await model.close();
