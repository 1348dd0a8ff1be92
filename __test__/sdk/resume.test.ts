import { numbered, readHistory, setUpSession } from "../embedded/support";
import { createSdk, isOf, oneAttempt, transports } from "./support";

test.each(transports)(
  "a reader that stops and resumes has no gap and no duplicate during eight writers, %s",
  async (_, open) => {
    const { setup, host, sessionID } = await setUpSession();
    const v2 = createSdk(await open(host), setup.directory);
    const writers = Array.from({ length: 8 }, async (_none, writer) => {
      for (let n = 0; n < 5; n += 1) {
        const delivery = n % 2 === 0 ? "steer" : "queue";
        await v2.session.prompt({ sessionID, prompt: numbered(writer * 5 + n), delivery });
      }
    });
    const written = Promise.all(writers).then(() => v2.session.wait({ sessionID }));

    const read: any[] = [];
    const isDone = () => read.filter(isOf("session.next.prompted")).length === 40;
    for (let size = 1; !isDone(); size = (size % 7) + 1) {
      const controller = new AbortController();
      const after = String(read.at(-1)?.durable.seq ?? 0);
      const { stream } = await v2.session.events({ sessionID, after }, oneAttempt(controller.signal));
      for (let taken = 0; taken < size && !isDone(); taken += 1) read.push((await stream.next()).value);
      controller.abort();
    }
    await written;
    const history = await readHistory(host, sessionID);
    expect(read).toEqual(history.slice(0, read.length));
    expect(history.map(({ durable }) => durable.seq)).toEqual(history.map((_event, index) => index + 1));
  },
);
