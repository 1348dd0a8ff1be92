// Compares a turn after 5,000 messages with a turn after 10 messages: directly after another turn, and directly after
// the file is opened.
import { openHost, reopenHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { admit } from "../lib/pending.mjs";
import { median, report, time } from "../lib/report.mjs";

const MESSAGES = { short: 10, long: 5000 };
const model = await startSteadyModel({ text: "Done." });
const { host, root, close } = await openHost(model.config);
const turn = (opened, sessionID) =>
  time(async () => {
    await opened.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    await opened.sessions.wait({ sessionID });
  });

const sessions = {};
for (const [name, messages] of Object.entries(MESSAGES)) {
  const { id } = await host.sessions.create();
  // The prompt that wakes the session, and the answer, are two of the messages.
  await admit(host, id, messages - 2);
  await turn(host, id);
  sessions[name] = id;
}

// Alternating turns, so that other load on the machine affects both equally.
const warm = { short: [], long: [] };
for (let run = 0; run < 40; run++) {
  for (const name of Object.keys(MESSAGES)) warm[name].push(await turn(host, sessions[name]));
}
reportAll("warm", warm, 10, { atMost: 2 });
await host.close();

const cold = { short: [], long: [] };
for (let run = 0; run < 12; run++) {
  for (const name of Object.keys(MESSAGES)) {
    const opened = await reopenHost(root, model.config);
    cold[name].push(await turn(opened, sessions[name]));
    await opened.close();
  }
}
// This turn reads the whole history once. Compaction keeps a history short.
reportAll("first after opening", cold, 2);
await close();
await model.close();

function reportAll(when, samples, warmUp, budget) {
  const [short, long] = [samples.short.slice(warmUp), samples.long.slice(warmUp)];
  report(`turn after 10 messages, ${when}`, "ms", short);
  report(`turn after 5,000 messages, ${when}`, "ms", long);
  report(`ratio of the second to the first, ${when}`, "x", [median(long) / median(short)], budget);
}
