// The first use of a Location with 200 models and 50 skills, and the time that observing 4 instruction files and 50
// skills adds to every turn.
import fs from "node:fs";
import path from "node:path";
import { openHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { writeInstructions, writeModels, writeSkills } from "../lib/project.mjs";
import { median, report, time } from "../lib/report.mjs";

const model = await startSteadyModel({ text: "Done." });
const { host, directory, close } = await openHost(model.config, { trust: true });

const opening = [];
for (let run = 0; run < 30; run++) {
  const place = path.join(directory, `place-${run}`);
  fs.mkdirSync(place);
  writeModels(place);
  writeSkills(place);
  opening.push(await time(() => firstLook({ directory: place })));
}
report("first use of a Location with 200 models and 50 skills", "ms", opening.slice(5), { atMost: 20 });

const bare = path.join(directory, "bare");
const told = path.join(directory, "told", "a", "b", "c");
for (const place of [bare, told]) fs.mkdirSync(place, { recursive: true });
git(bare);
git(path.join(directory, "told"));
writeSkills(told);
writeInstructions(told);
const turns = { bare: await session(bare), told: await session(told) };
const samples = { bare: [], told: [] };
for (let run = 0; run < 80; run++) {
  for (const name of Object.keys(turns)) samples[name].push(await time(() => turn(turns[name])));
}
const [without, withAll] = [samples.bare.slice(20), samples.told.slice(20)];
report("turn without instructions and skills", "ms", without);
report("turn with 4 instruction files and 50 skills", "ms", withAll);
report("time added by observing them", "ms", [median(withAll) - median(without)], { atMost: 1 });
await close();
await model.close();

async function firstLook(location) {
  const { data } = await host.models.list({ location });
  if (data.length < 200) throw new Error(`expected 200 models, got ${data.length}`);
  const skills = await host.skills.list({ location });
  if (skills.data.length < 50) throw new Error(`expected 50 skills, got ${skills.data.length}`);
}

/** The parts of a repository that make this folder a project. */
function git(folder) {
  fs.mkdirSync(path.join(folder, ".git", "refs"), { recursive: true });
  fs.mkdirSync(path.join(folder, ".git", "objects"), { recursive: true });
  fs.writeFileSync(path.join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
}

async function session(place) {
  const { id } = await host.sessions.create({ location: { directory: place } });
  return id;
}

async function turn(sessionID) {
  await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
  await host.sessions.wait({ sessionID });
}
