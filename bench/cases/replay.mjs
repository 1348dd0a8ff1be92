// Replaying 20,000 durable events of one session, and the time until the first.
import { openHost } from "../lib/host.mjs"
import { report } from "../lib/report.mjs"

const EVENTS = 20_000
const { host, close } = await openHost()
const session = await host.sessions.create()
const prompt = (n) => host.sessions.prompt({ sessionID: session.id, prompt: { text: `Prompt ${n}` }, resume: false })
for (let at = 0; at < EVENTS; at += 500) await Promise.all(Array.from({ length: 500 }, (_, n) => prompt(at + n)))
const whole = []
const first = []
for (let run = 0; run < 9; run++) {
  const start = performance.now()
  let seen = 0
  for await (const event of host.sessions.events({ sessionID: session.id })) {
    if (seen === 0) first.push(performance.now() - start)
    if (++seen !== event.durable.seq) throw new Error(`expected sequence ${seen}, got ${event.durable.seq}`)
    if (seen === EVENTS) break
  }
  whole.push(performance.now() - start)
}
report("replay of 20,000 durable events", "ms", whole.slice(1), { atMost: 120 })
report("first of 20,000 durable events", "ms", first.slice(1), { atMost: 5 })
await close()
