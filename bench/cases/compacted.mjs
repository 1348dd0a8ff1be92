// Compares a turn in a compacted session of 5,000 messages with one in a session of 50 messages: directly after another
// turn, and directly after the file is opened.
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
  // The prompt that wakes the session, and the answer, are two of the messages.
  await admit(host, id, messages - 2);
  await turn(host, id);
  sessions[name] = id;
}
report("compacting 5,000 messages", "ms", [await time(() => host.sessions.compact({ sessionID: sessions.compacted }))]);

// Alternating turns, so that other load on the machine affects both equally.
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
  report(`ratio of the second to the first, ${when}`, "x", ratio, { atMost: 1.25 });
}
