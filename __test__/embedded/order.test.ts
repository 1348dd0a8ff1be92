import { numbered, readHistory, setUpSession } from "./support";

test("admits prompts in the order of their calls, without waiting for each", async () => {
  const { host, sessionID } = await setUpSession();
  const other = await host.sessions.create();
  const numbers = Array.from({ length: 500 }, (_, n) => n);
  const receipts = await Promise.all(
    numbers.flatMap((n) => [
      host.sessions.prompt({ sessionID, prompt: numbered(n), resume: false }),
      host.sessions.prompt({ sessionID: other.id, prompt: numbered(n), resume: false }),
    ]),
  );
  for (const id of [sessionID, other.id]) {
    const own = receipts.filter((receipt) => receipt.sessionID === id);
    expect(own.map(({ admittedSeq }) => admittedSeq)).toEqual(numbers.map((n) => n + 1));
    const admitted = (await readHistory(host, id)).filter((event) => event.type === "session.next.prompt.admitted");
    expect(admitted.map(({ data }) => data.prompt)).toEqual(numbers.map(numbered));
  }
});

test("keeps the order during a running turn", async () => {
  const { host, sessionID } = await setUpSession();
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await Promise.all(numbers.map((n) => host.sessions.prompt({ sessionID, prompt: numbered(n) })));
  await host.sessions.wait({ sessionID });
  const history = await readHistory(host, sessionID);
  for (const type of ["session.next.prompt.admitted", "session.next.prompted"] as const) {
    const events = history.filter((event) => event.type === type);
    expect(events.map(({ data }) => "prompt" in data && data.prompt)).toEqual(numbers.map(numbered));
  }
});
