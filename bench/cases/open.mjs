// Opening a host on a new file and creating a session, inside a running Node; and the memory that
// an open host adds.
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { OpenCode } from "../../index.mjs"
import { options } from "../lib/host.mjs"
import { report, time } from "../lib/report.mjs"

const RUNS = 15
const before = memory()
const samples = []
let first = 0
for (let run = 0; run < RUNS; run++) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"))
  let host
  samples.push(
    await time(async () => {
      host = await OpenCode.create(options(root, root))
      await host.sessions.create()
    }),
  )
  if (run === 0) first = memory() - before
  await host.close()
  fs.rmSync(root, { recursive: true, force: true })
}
report("open and create a session, first in the process", "ms", [samples[0]], { atMost: 50 })
report("open and create a session", "ms", samples.slice(1), { atMost: 50 })
report("memory added by an open host", "MiB", [first], { atMost: 25 })

/** Resident memory after a collection, in MiB. */
function memory() {
  globalThis.gc()
  return process.memoryUsage().rss / 1024 / 1024
}
