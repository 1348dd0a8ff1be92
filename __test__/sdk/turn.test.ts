import { setUpSession } from "../embedded/support";
import { createSdk, oneAttempt, transports, until } from "./support";

test.each(transports)("streams and reads show the same turn, %s", async (_, open) => {
  const { setup, model, host } = await setUpSession();
  const v2 = createSdk(await open(host), setup.directory);
  const created = await v2.session.create({ location: { directory: setup.directory } });
  const sessionID = created.data!.data.id;
  const controller = new AbortController();
  const options = oneAttempt(controller.signal);
  const durable = (await v2.session.events({ sessionID }, options)).stream;
  const live = (await v2.event.subscribe(options)).stream;
  await expect(live.next()).resolves.toMatchObject({ value: { type: "server.connected", data: {} } });

  setup.write("a.txt", "A");
  model.reply({ reasoning: "Hm.", tools: [{ name: "read", input: { path: "a.txt" } }] }, { deltas: ["It", " is A."] });
  const isLast = (event: any) => event.type === "session.next.step.ended" && event.data.finish === "stop";
  const reading = Promise.all([until(durable, isLast), until(live, (event: any) => event.type === "session.idle")]);
  const prompted = await v2.session.prompt({ sessionID, prompt: { text: "What is in a.txt?" } });
  const [events, liveEvents] = await reading;

  const history = await v2.session.history({ sessionID, limit: 100 });
  expect(history.data).toEqual({ data: events, hasMore: false });
  const location = { directory: setup.directory };
  const withPlace = events.map((event: object) => ({ ...event, location }));
  expect(liveEvents.filter((event: object) => "durable" in event)).toEqual(withPlace);

  const messages = (await v2.session.messages({ sessionID, order: "asc" })).data!.data;
  expect((await v2.session.context({ sessionID })).data).toEqual({ data: messages });
  const user = { type: "user", id: prompted.data!.data.id, text: "What is in a.txt?" };
  expect(messages).toMatchObject([user, { type: "assistant" }, { type: "assistant", finish: "stop" }]);
  for (const message of messages) {
    await expect(v2.session.message({ sessionID, messageID: message.id })).resolves.toMatchObject({
      data: { data: message },
    });
  }

  const ends = [durable.next(), live.next()];
  controller.abort();
  const done = { done: true, value: undefined };
  await expect(Promise.all(ends)).resolves.toEqual([done, done]);
});

test.each(transports)("five simultaneous prompts with one id are admitted once, %s", async (_, open) => {
  const { setup, host } = await setUpSession();
  const v2 = createSdk(await open(host), setup.directory);
  const five = [1, 2, 3, 4, 5];
  const sessionID = "ses_once";
  const sessions = await Promise.all(five.map((n) => v2.session.create({ id: sessionID, agent: `agent ${n}` })));
  const [session] = sessions.map(({ data }) => data!.data);
  expect(sessions.map(({ data }) => data!.data)).toEqual(five.map(() => session));

  const input = { sessionID, id: "msg_once", prompt: { text: "Hi" }, resume: false };
  const receipts = await Promise.all(five.map(() => v2.session.prompt(input)));
  const [receipt] = receipts.map(({ data }) => data!.data);
  expect(receipts.map(({ data }) => data!.data)).toEqual(five.map(() => receipt));
  const listed = (await v2.session.list()).data!.data;
  expect(listed.filter(({ id }) => id === sessionID)).toEqual([session]);
  await expect(v2.session.history({ sessionID })).resolves.toMatchObject({ data: { data: [{}], hasMore: false } });
});

test("a failure is returned as a value, or thrown with the same body", async () => {
  const { host } = await setUpSession();
  const v2 = createSdk({ name: "", url: "http://any.host", headers: {}, fetch: host.fetch });
  const body = { _tag: "SessionNotFoundError", sessionID: "ses_none", message: "Session not found: ses_none" };
  const answer = await v2.session.get({ sessionID: "ses_none" });
  expect([answer.error, answer.data, answer.response?.status]).toEqual([body, undefined, 404]);
  const thrown = v2.session.get({ sessionID: "ses_none" }, { throwOnError: true });
  await expect(thrown).rejects.toMatchObject({ message: body.message, cause: { body, status: 404 } });
});
