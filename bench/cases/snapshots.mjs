// What snapshots add to a step: one that only talks, and one that writes a file.
import path from "node:path"
import { openHost } from "../lib/host.mjs"
import { startModel } from "../lib/model.mjs"
import { median, report, time } from "../lib/report.mjs"
import { writeRepository } from "../lib/repository.mjs"

const model = await startModel()
await compare(2_000, 3)
await compare(50_000, 40)
await model.close()

/** Two hosts in one repository take turns, so that what else the machine does falls on both. */
async function compare(files, atMost) {
  const first = await openHost({ ...model.config, snapshots: true })
  writeRepository(first.directory, files)
  const second = await openHost({ ...model.config, snapshots: false }, { directory: first.directory })
  const sides = {
    on: { host: first.host, id: (await first.host.sessions.create()).id },
    off: { host: second.host, id: (await second.host.sessions.create()).id },
  }
  const said = { on: [], off: [] }
  const wrote = { on: [], off: [] }
  for (let run = 0; run < 40; run++) {
    for (const [name, side] of Object.entries(sides)) {
      await model.reply({ text: "Done." })
      said[name].push(await turn(side))
      await model.reply({ tools: [{ name: "write", input: { path: "part-0/written.txt", content: `Run ${run} ${name}\n` } }] })
      await model.reply({ text: "Written." })
      wrote[name].push(await turn(side))
    }
  }
  await check(sides, path.join("part-0", "written.txt"))
  const added = (samples, steps) => (median(samples.on.slice(10)) - median(samples.off.slice(10))) / steps
  report(`what snapshots add to a step in ${files} files`, "ms", [added(said, 1)], { atMost })
  report(`what they add to a step around a write in ${files} files`, "ms", [added(wrote, 2)], { atMost })
  await second.close()
  await first.close()
}

async function turn({ host, id: sessionID }) {
  return time(async () => {
    await host.sessions.prompt({ sessionID, prompt: { text: "Go" } })
    await host.sessions.wait({ sessionID })
  })
}

/** A bench of nothing would be fast. */
async function check(sides, written) {
  for (const [name, { host, id: sessionID }] of Object.entries(sides)) {
    const messages = await host.sessions.context({ sessionID })
    const steps = messages.filter((message) => message.type === "assistant")
    const files = steps.flatMap((step) => step.snapshot?.files ?? [])
    const expected = name === "on" ? 40 : 0
    const found = files.filter((file) => file === written).length
    if (found !== expected) throw new Error(`expected ${expected} changes of ${written} with snapshots ${name}, got ${found}`)
  }
}
