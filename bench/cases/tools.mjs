// A drain of 24 Provider Turns that read one file each, and one step that reads 200 files in parallel.
import fs from "node:fs";
import path from "node:path";
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { report, time } from "../lib/report.mjs";

const TURNS = 24;
const READS = 200;

const model = await startModel();
const { host, directory, close } = await openHost(model.config);
for (let n = 0; n < READS; n++) {
  fs.writeFileSync(path.join(directory, `file-${n}.txt`), `${`Line of file ${n}.\n`.repeat(50)}`);
}
const read = (n) => ({ name: "read", input: { path: `file-${n}.txt` } });

const chains = [];
for (let run = 0; run < 15; run++) {
  for (let n = 0; n < TURNS; n++) await model.reply({ tools: [read(n)] });
  await model.reply({ text: "Read." });
  chains.push(await turn(TURNS));
}
report("24 turns with one read each", "ms", chains.slice(3), { atMost: 150 });

const steps = [];
for (let run = 0; run < 15; run++) {
  await model.reply({ tools: Array.from({ length: READS }, (_, n) => read(n)) }, { text: "Read." });
  steps.push(await turn(READS));
}
report("a step of 200 reads at once", "ms", steps.slice(3), { atMost: 100 });
await close();
await model.close();

async function turn(reads) {
  const { id: sessionID } = await host.sessions.create();
  const took = await time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Read them" } });
    await host.sessions.wait({ sessionID });
  });
  const messages = await host.sessions.context({ sessionID });
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  const done = parts.filter((part) => part.type === "tool" && part.state.status === "completed").length;
  if (done !== reads) throw new Error(`expected ${reads} reads, got ${done}`);
  return took;
}
