import path from "node:path";
import { readHistory, readTranscript, readUntil, run, setUp, setUpSession, subscribe } from "./support";

test("two hosts with separate databases share nothing", async () => {
  const setup = await setUp();
  const one = await setup.open();
  const two = await setup.open({ database: path.join(setup.root, "two.db") });
  const session = await one.sessions.create({ id: "ses_same" });
  await expect(two.sessions.get({ sessionID: session.id })).rejects.toMatchObject({ _tag: "SessionNotFoundError" });
  await two.sessions.create({ id: "ses_same" });

  const [liveOne, liveTwo] = await Promise.all([subscribe(one), subscribe(two)]);
  setup.model.reply({ text: "Apples." });
  await run(one, "ses_same", "For apples");
  setup.model.reply({ text: "Pears." });
  await run(two, "ses_same", "For pears");
  const [eventsOne, eventsTwo] = await Promise.all(
    [liveOne, liveTwo].map((live) => readUntil(live, "session.next.step.ended")),
  );
  expect(JSON.stringify(eventsOne)).not.toMatch(/pears/i);
  expect(JSON.stringify(eventsTwo)).not.toMatch(/apples/i);
  await expect(readTranscript(one, "ses_same")).resolves.toEqual(["user: For apples", "assistant: Apples."]);
  await expect(readTranscript(two, "ses_same")).resolves.toEqual(["user: For pears", "assistant: Pears."]);
});

test("closing one host does not affect the other", async () => {
  const { setup, host, model, sessionID } = await setUpSession();
  const other = await setup.open({ database: ":memory:" });
  model.reply({ deltas: ["a", "b"], gate: "middle" });
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  await model.reached("middle");
  await other.close();
  model.release("middle");
  await host.sessions.wait({ sessionID });
  await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: ab"]);
});

describe("in memory", () => {
  test("works as with a file", async () => {
    const { host, model, sessionID } = await setUpSession({ database: ":memory:" });
    const live = await subscribe(host);
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    await expect(readTranscript(host, sessionID)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
    const history = await readHistory(host, sessionID);
    const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
    await expect(readUntil(events, "session.next.step.ended")).resolves.toStrictEqual(history);
    const durable = (await readUntil(live, "session.next.step.ended")).filter((event) => "durable" in event);
    expect(durable.map(({ id }) => id)).toEqual(history.map(({ id }) => id));
    await Promise.all([live.return?.(), events.return?.()]);
  });

  test("gives every host a separate database, which ends with it", async () => {
    const setup = await setUp();
    const [one, two] = await Promise.all([setup.open({ database: ":memory:" }), setup.open({ database: ":memory:" })]);
    const { id } = await one.sessions.create();
    await expect(two.sessions.list()).resolves.toStrictEqual({ items: [] });
    await one.close();
    const three = await setup.open({ database: ":memory:" });
    await expect(three.sessions.get({ sessionID: id })).rejects.toMatchObject({ _tag: "SessionNotFoundError" });
  });
});
