// `grep` over 50,000 files, compared with the `rg` binary on the same files if there is one (the variable RG, else from
// PATH).
import { execFileSync } from "node:child_process";
import { openHost } from "../lib/host.mjs";
import { startModel } from "../lib/model.mjs";
import { median, report, time } from "../lib/report.mjs";
import { writeRepository } from "../lib/repository.mjs";

const FILES = 50_000;
const PATTERN = "answer4999[0-9]";

const model = await startModel();
const { host, directory, close } = await openHost({ ...model.config, snapshots: false });
writeRepository(directory, FILES);
const rg = findRg();
const ours = [];
const theirs = [];
for (let run = 0; run < 15; run++) {
  ours.push(await grep());
  if (rg)
    theirs.push(
      await time(() =>
        execFileSync(rg, ["--no-config", "--json", "--hidden", "--glob=!**/.git/**", "--", PATTERN, "."], {
          cwd: directory,
        }),
      ),
    );
}
report("grep over 50,000 files, with its two turns", "ms", ours.slice(3));
if (rg) {
  report("rg over the same files", "ms", theirs.slice(3));
  report("grep and its turns, as a multiple of rg", "x", [median(ours.slice(3)) / median(theirs.slice(3))], {
    atMost: 1.3,
  });
}
await close();
await model.close();

async function grep() {
  const { id: sessionID } = await host.sessions.create();
  await model.reply({ tools: [{ name: "grep", input: { pattern: PATTERN } }] }, { text: "Found." });
  const took = await time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Search" } });
    await host.sessions.wait({ sessionID });
  });
  const messages = await host.sessions.context({ sessionID });
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  const found = parts.find((part) => part.type === "tool")?.state.structured?.value?.length;
  if (found !== 10) throw new Error(`expected 10 matches, got ${found}`);
  return took;
}

function findRg() {
  const named = process.env.RG ?? "rg";
  try {
    execFileSync(named, ["--version"]);
    return named;
  } catch {
    return undefined;
  }
}
