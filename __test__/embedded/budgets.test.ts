import { readHistory, run, setUp, setUpSession } from "./support";
import { createClient } from "../../index.js";

const look = (pattern: string) => ({ tools: [{ name: "glob", input: { pattern } }] });

test("a session pauses when its budget is used up, also in a later host, and continues with a larger one", async () => {
  const { setup, host, model } = await setUpSession();
  const { id: sessionID } = await host.sessions.create({ budget: { turns: 1 } });
  model.reply(look("*.ts"));
  const { result } = host.sessions.run({ sessionID, prompt: "Look" });
  await expect(result).resolves.toMatchObject({ outcome: "paused", reason: expect.stringContaining("1 of 1") });
  await host.close();

  const again = await setup.open({ recovery: "resume" });
  await again.sessions.wait({ sessionID });
  expect(model.requests).toHaveLength(1);
  await expect(again.sessions.interrupted()).resolves.toEqual([]);
  await expect(again.sessions.update({ sessionID, budget: { turns: 2 } })).resolves.toMatchObject({
    budget: { turns: 2 },
  });
  model.reply({ deltas: ["None."] });
  await again.sessions.resume({ sessionID });
  await again.sessions.wait({ sessionID });
  const types = (await readHistory(again, sessionID)).map(({ type }) => type);
  expect(types.filter((type) => type === "session.next.paused")).toHaveLength(1);
  expect(types.at(-1)).toBe("session.next.step.ended");
});

test("the paused prompt of a network client stays pending, and the session has the cause", async () => {
  const { host, model } = await setUpSession({ budgets: { host: { turns: 1 } } });
  const client = createClient({ baseUrl: (await host.listen()).clientUrl });
  const { id: sessionID } = await client.sessions.create();
  model.reply({ deltas: ["One."] });
  await run(host, sessionID, "First");
  const { result } = client.sessions.run({ sessionID, prompt: "Second" });
  await expect(result).resolves.toMatchObject({ outcome: "paused", reason: expect.stringContaining("setBudget") });
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toHaveLength(1);
  expect((await readHistory(host, sessionID)).at(-1)).toMatchObject({
    type: "session.next.paused",
    data: { scope: "host", limit: "turns", used: 1, allowed: 1 },
  });
  expect(client).not.toHaveProperty("setBudget");
  host.setBudget({});
  model.reply({ deltas: ["Two."] });
  await host.sessions.resume({ sessionID });
  await host.sessions.wait({ sessionID });
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toHaveLength(0);
});

test.each([
  [{ tokens: -1 }, "budget.tokens"],
  [{ cost: Number.NaN }, "budget.cost"],
  [{ turns: 1.5 }, "budget.turns"],
  [{ durationMs: "1" }, "budget.durationMs"],
  [{ time: 1 }, "budget.time"],
])("refuses the budget %j of a host", async (budget, option) => {
  const { host } = await setUpSession();
  expect(() => host.setBudget(budget as never)).toThrow(
    expect.objectContaining({ _tag: "InvalidOptionError", option }),
  );
});

test("a fallback model takes over after the retries, and its name must have a provider", async () => {
  const setup = await setUp();
  const { model } = setup;
  await expect(setup.open({ fallback: ["m2"] })).rejects.toMatchObject({
    _tag: "InvalidOptionError",
    option: "fallback[0]",
  });
  const config = model.config();
  const { models } = config.provider.mock;
  Object.assign(models, { m2: models.m1 });
  const host = await setup.open({ config, fallback: ["mock/m2"], retry: false });
  model.reply({ status: 429 }, { deltas: ["Hello."] });
  const { result } = host.sessions.run({ prompt: "Hi" });
  await expect(result).resolves.toMatchObject({ outcome: "completed", text: "Hello." });
  expect(model.requests.map(({ body }) => (body as { model: string }).model)).toEqual(["m1", "m2"]);
});
