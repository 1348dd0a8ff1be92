// The time zone of the user decides about the date that models read.

import { run, setUp } from "./support";

// Their dates always differ: 26 hours are between them.
const [EAST, WEST] = ["Etc/GMT-14", "Etc/GMT+12"];

const dateIn = (timeZone: string) =>
  new Date().toLocaleDateString("en-US", { timeZone, year: "numeric", month: "short", day: "2-digit" });

test.each([
  ["the option", { timezone: EAST, config: { timezone: WEST } }, EAST],
  ["the key", { config: { timezone: EAST } }, EAST],
  ["the environment", {}, WEST],
])("is that of %s", async (_, { config, ...options }: { timezone?: string; config?: { timezone: string } }, zone) => {
  const setup = await setUp();
  setup.model.reply({ text: "Hi." });
  const host = await setup.open({ ...options, config: { ...setup.model.config(), ...config }, env: { TZ: WEST } });
  const { id } = await host.sessions.create();
  await run(host, id, "Hi");
  const [sent] = setup.model.requests;
  const [monthAndDay = "", year = ""] = dateIn(zone).split(", ");
  expect(JSON.stringify(sent?.body.messages[0])).toMatch(new RegExp(`Today is \\w+ ${monthAndDay} ${year}`));
});
