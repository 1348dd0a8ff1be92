// 10,000 turns in one session: the ratio of their bytes on disk to those of the transcript, and the time of a commit at
// the end compared with the beginning. This takes a minute or more, because the last request has 20,000 messages.
//
//   npm run bench -- long
import fs from "node:fs";
import path from "node:path";
import { openHost, reopenHost } from "../lib/host.mjs";
import { startSteadyModel } from "../lib/model.mjs";
import { median, report, time } from "../lib/report.mjs";

const TURNS = 10_000;
const EARLY = 100;

// One paragraph of input, two paragraphs of output.
const text = [
  "The parser reads one statement at a time; each becomes a node that keeps the place it came from, so that",
  "every later complaint can point at it. Expressions are read by precedence: a primary first, then what binds",
  "tightest. When a token does not fit, the rest of the statement is skipped and the error is remembered.",
  "\n\nThe checker then walks the tree twice. The first walk collects the names that each scope declares, the",
  "second resolves what is used and infers its type. Nothing is printed on the way: whoever asked for the",
  "result gets the nodes together with everything that was found, in the order of the source.",
].join(" ");
const question = "Please look at the next part of the source and tell me what it does with its input, and what";

const model = await startSteadyModel({ text });
const empty = await measureEmpty();
const { host, root, close } = await openHost(model.config);
const { id: sessionID } = await host.sessions.create();
const turns = [];
await run(EARLY);
const early = await measureCommits();
await run(TURNS - EARLY);
const late = await measureCommits();
await host.close();
const stored = fs.statSync(path.join(root, "opencode.db")).size - empty;
const transcript = await measureTranscript();

report("commit of a prompt after 100 turns", "ms", early);
report("commit of a prompt after 10,000 turns", "ms", late);
report("ratio of the second to the first", "x", [median(late) / median(early)], { atMost: 1.2 });
report("turn, the first 100", "ms", turns.slice(0, EARLY));
report("turn, the last 100 of 10,000", "ms", turns.slice(-EARLY));
report("ratio of stored bytes to bytes of the transcript", "x", [stored / transcript], { atMost: 2 });
await close();
await model.close();

async function run(count) {
  for (let turn = 0; turn < count; turn++) {
    turns.push(
      await time(async () => {
        await admit();
        await host.sessions.resume({ sessionID });
        await host.sessions.wait({ sessionID });
      }),
    );
    if (turns.length % 1000 === 0) console.error(`${turns.length} turns, the last took ${turns.at(-1).toFixed(1)} ms`);
  }
}

function admit() {
  const prompt = { text: `${question} it leaves to part ${turns.length + 1}.` };
  return host.sessions.prompt({ sessionID, prompt, resume: false });
}

/** Sequential commits without turns, because a turn of several megabytes changes the caches that a commit uses. */
async function measureCommits() {
  const samples = [];
  for (let n = 0; n < 250; n++) samples.push(await time(admit));
  return samples.slice(50);
}

/** The size in bytes of a database without a session. */
async function measureEmpty() {
  const opened = await openHost(model.config);
  await opened.host.close();
  const { size } = fs.statSync(path.join(opened.root, "opencode.db"));
  await opened.close();
  return size;
}

/** UTF-8 bytes of all returned messages. */
async function measureTranscript() {
  const opened = await reopenHost(root, model.config);
  let bytes = 0;
  let page = await opened.sessions.messages({ sessionID, order: "asc", limit: 200 });
  while (page.next !== undefined) {
    for (const message of page.items) bytes += Buffer.byteLength(JSON.stringify(message));
    page = await opened.sessions.messages({ sessionID, cursor: page.next });
  }
  await opened.close();
  return bytes;
}
