// A turn in a session of 5,000 messages that was compacted against one in a session of 50 messages:
// when the session has just run, and when the file has just been opened.
import { openHost, reopenHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { admit } from "../lib/pending.mjs";
import { median, report, time } from "../lib/report.mjs";

const model = await startSteadyModel({ text: "Done." });
const config = { ...model.config, compaction: { keep: { tokens: 100 } } };
const { host, root, close } = await openHost(config);
const turn = (opened, sessionID) =>
  time(async () => {
    await opened.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    await opened.sessions.wait({ sessionID });
  });

const sessions = {};
for (const [name, messages] of Object.entries({ short: 50, compacted: 5000 })) {
  const { id } = await host.sessions.create();
  // The prompt that wakes, and the answer, are two of them.
  await admit(host, id, messages - 2);
  await turn(host, id);
  sessions[name] = id;
}
report("compacting 5,000 messages", "ms", [await time(() => host.sessions.compact({ sessionID: sessions.compacted }))]);

// Turns of both in alternation, so that what the machine does besides meets both.
const warm = { short: [], compacted: [] };
for (let run = 0; run < 40; run++) {
  for (const name of Object.keys(sessions)) warm[name].push(await turn(host, sessions[name]));
}
reportAll("warm", warm, 10);
await host.close();

const cold = { short: [], compacted: [] };
for (let run = 0; run < 12; run++) {
  for (const name of Object.keys(sessions)) {
    const opened = await reopenHost(root, config);
    cold[name].push(await turn(opened, sessions[name]));
    await opened.close();
  }
}
reportAll("first after opening", cold, 2);
await close();
await model.close();

function reportAll(when, samples, warmUp) {
  const [short, compacted] = [samples.short.slice(warmUp), samples.compacted.slice(warmUp)];
  report(`turn after 50 messages, ${when}`, "ms", short);
  report(`turn after 5,000 messages and a checkpoint, ${when}`, "ms", compacted);
  const ratio = [median(compacted) / median(short)];
  report(`the second to the first, ${when}`, "x", ratio, { atMost: 1.25 });
}
