import { readHistory, setUpSession } from "../embedded/support";
import { createSdk, isOf, oneAttempt, transports, until } from "./support";

test.each(transports)("closing settles a turn, its waits and its streams, %s", async (_, open) => {
  const { setup, host, model, sessionID } = await setUpSession();
  const transport = await open(host);
  const v2 = createSdk(transport, setup.directory);
  const errors: string[] = [];
  const options = (name: string) => ({
    ...oneAttempt(new AbortController().signal),
    onSseError: () => void errors.push(name),
  });
  const durable = (await v2.session.events({ sessionID }, options("durable"))).stream;
  const live = (await v2.event.subscribe(options("live"))).stream;
  await live.next();
  model.reply({ deltas: ["Once upon", " a time."], gate: "middle" });
  await v2.session.prompt({ sessionID, prompt: { text: "Tell me a story" } });
  const seen = await until(live, isOf("session.next.text.delta"));
  expect(seen.at(-1).data.delta).toBe("Once upon");
  const seenDurable = await until(durable, isOf("session.next.text.started"));
  const waiting = v2.session.wait({ sessionID });
  // The wait was sent before this request, so the host has it when this one is answered.
  await v2.health.get();
  const reading = Promise.all([collect(durable), collect(live)]);
  await host.close();

  const [events, liveEvents] = await reading;
  expect(liveEvents.at(-1)).toMatchObject({ type: "global.disposed", data: {} });
  // The live stream ends cleanly. The durable stream reports that it was cut.
  expect(errors).toEqual(["durable"]);
  await expect(waiting).resolves.toMatchObject({ response: { status: 204 } });
  await expect(transport.fetch(new Request(`${transport.url}/api/health`))).rejects.toMatchObject({
    name: expect.stringMatching(/^(?:TypeError|ClientError)$/),
  });

  // A reader that was cut off has received a prefix of the events.
  const history = await readHistory(await setup.open(), sessionID);
  expect(history.slice(0, seenDurable.length + events.length)).toEqual([...seenDurable, ...events]);
  expect(history.at(-1)).toMatchObject({ type: "session.next.step.failed" });
});

async function collect(stream: AsyncIterable<unknown>) {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events as { type: string }[];
}
