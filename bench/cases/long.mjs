// 10,000 turns in one session: the bytes they take on disk to those of the transcript, and how long
// a commit takes at the end against the beginning. This takes minutes: the last request has 20,000
// messages.
//
//   npm run bench -- long
import fs from "node:fs"
import path from "node:path"
import { openHost, reopenHost } from "../lib/host.mjs"
import { startSteadyModel } from "../lib/model.mjs"
import { report, time } from "../lib/report.mjs"

const TURNS = 10_000
const SAMPLE = 100
/** Turns until a fresh process has compiled what it runs. */
const WARM_UP = 100

const text = "The parser reads one statement at a time; each becomes a node with the place it came from."
const model = await startSteadyModel({ text })
const empty = await measureEmpty()
const { host, root, close } = await openHost(model.config)
const { id: sessionID } = await host.sessions.create()
const commits = []
const turns = []
for (let turn = 0; turn < TURNS + WARM_UP; turn++) {
  turns.push(
    await time(async () => {
      const prompt = { text: `And what does part ${turn} of the source do with its input?` }
      commits.push(await time(() => host.sessions.prompt({ sessionID, prompt })))
      await host.sessions.wait({ sessionID })
    }),
  )
  if (turn % 1000 === 999) console.error(`${turn + 1} turns, ${turns.at(-1).toFixed(1)} ms`)
}
await host.close()
const stored = fs.statSync(path.join(root, "opencode.db")).size - empty
const transcript = await measureTranscript()

const [first, last] = [commits.slice(WARM_UP, WARM_UP + SAMPLE), commits.slice(-SAMPLE)]
report("commit of a prompt, the first 100 turns", "ms", first)
report("commit of a prompt, the last 100 of 10,000 turns", "ms", last)
report("the second to the first", "x", [median(last) / median(first)], { atMost: 1.2 })
report("turn, the first 100", "ms", turns.slice(WARM_UP, WARM_UP + SAMPLE))
report("turn, the last 100 of 10,000", "ms", turns.slice(-SAMPLE))
report("bytes stored to bytes of the transcript", "x", [stored / transcript], { atMost: 2 })
await close()
await model.close()

/** The size of a file without a session. */
async function measureEmpty() {
  const opened = await openHost(model.config)
  await opened.host.close()
  const { size } = fs.statSync(path.join(opened.root, "opencode.db"))
  await opened.close()
  return size
}

/** UTF-8 bytes of all messages as they are returned. */
async function measureTranscript() {
  const opened = await reopenHost(root, model.config)
  let bytes = 0
  let page = await opened.sessions.messages({ sessionID, order: "asc", limit: 200 })
  while (page.next !== undefined) {
    for (const message of page.items) bytes += Buffer.byteLength(JSON.stringify(message))
    page = await opened.sessions.messages({ sessionID, cursor: page.next })
  }
  await opened.close()
  return bytes
}

function median(samples) {
  return [...samples].sort((a, b) => a - b)[Math.floor(samples.length / 2)]
}
