// The time that snapshots add to a step: a step with only text, and a step that writes a file, directly and after a
// rest.
import { setTimeout as sleep } from "node:timers/promises";
import path from "node:path";
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { median, report, time } from "../lib/report.mjs";
import { writeRepository } from "../lib/repository.mjs";

const RUNS = 40;
const RESTED_RUNS = 5;
/** Milliseconds. After this time, file attributes are too old to be trusted without reading the files again. */
const REST_MS = 6_000;

const model = await startModel();
await compare(2_000, 3);
await compare(50_000, 40);
await model.close();

/** Alternates two hosts in one repository, so that other load on the machine affects both equally. */
async function compare(files, atMost) {
  const first = await openHost({ ...model.config, snapshots: true });
  writeRepository(first.directory, files);
  const second = await openHost({ ...model.config, snapshots: false }, { directory: first.directory });
  const sides = {
    on: { host: first.host, id: (await first.host.sessions.create()).id },
    off: { host: second.host, id: (await second.host.sessions.create()).id },
  };
  const texts = { on: [], off: [] };
  const wrote = { on: [], off: [] };
  const rested = { on: [], off: [] };
  const write = async (name, run) => {
    await model.reply({
      tools: [{ name: "write", input: { path: "part-0/written.txt", content: `Run ${run} ${name}\n` } }],
    });
    await model.reply({ text: "Written." });
    return turn(sides[name]);
  };
  for (let run = 0; run < RUNS; run++) {
    for (const [name, side] of Object.entries(sides)) {
      await model.reply({ text: "Done." });
      texts[name].push(await turn(side));
      wrote[name].push(await write(name, run));
    }
  }
  for (let run = RUNS; run < RUNS + RESTED_RUNS; run++) {
    await sleep(REST_MS);
    for (const name of Object.keys(sides)) rested[name].push(await write(name, run));
  }
  await check(sides, path.join("part-0", "written.txt"));
  const added = (samples, steps) => (median(samples.on) - median(samples.off)) / steps;
  const warm = ({ on, off }) => ({ on: on.slice(10), off: off.slice(10) });
  report(`time that snapshots add to a step in ${files} files`, "ms", [added(warm(texts), 1)], { atMost });
  report(`time that they add to a step around a write in ${files} files`, "ms", [added(warm(wrote), 2)], { atMost });
  report(`time that they add to such a step after a rest in ${files} files`, "ms", [added(rested, 2)], { atMost });
  await second.close();
  await first.close();
}

async function turn({ host, id: sessionID }) {
  return time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
    await host.sessions.wait({ sessionID });
  });
}

/** Fails if the measured snapshots were not taken. */
async function check(sides, written) {
  for (const [name, { host, id: sessionID }] of Object.entries(sides)) {
    const messages = await host.sessions.context({ sessionID });
    const steps = messages.filter((message) => message.type === "assistant");
    const files = steps.flatMap((step) => step.snapshot?.files ?? []);
    const expected = name === "on" ? RUNS + RESTED_RUNS : 0;
    const found = files.filter((file) => file === written).length;
    if (found !== expected)
      throw new Error(`expected ${expected} changes of ${written} with snapshots ${name}, got ${found}`);
  }
}
