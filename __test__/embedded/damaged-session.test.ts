import { readFileSync, writeFileSync } from "node:fs";

import { isSessionUnreadableError } from "opencode-embedded";

import { run, setUp } from "./support";

// A file in which one entry of one session is not valid JSON, as after a disk fault.

/** Puts a quotation mark into each stored text that contains the marker. */
function damage(file: string, marker: string) {
  const bytes = readFileSync(file);
  let count = 0;
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) {
    bytes[at + 3] = 0x22;
    count += 1;
  }
  writeFileSync(file, bytes);
  return count;
}

test("failures name the damaged session, and other sessions work", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "One." }, { text: "Two." }, { text: "Three." });
  let host = await setup.open({ log: "off" });
  const { id: damaged } = await host.sessions.create();
  const { id: other } = await host.sessions.create();
  await run(host, damaged, "MARKED-TEXT");
  await run(host, other, "Hello");
  await host.close();
  expect(damage(setup.database, "MARKED-TEXT")).toBeGreaterThan(0);

  host = await setup.open({ log: "off" });
  const failure = async (work: Promise<unknown>) => {
    const failed = await work.then(
      () => new Error("it did not fail"),
      (error: unknown) => error,
    );
    if (!isSessionUnreadableError(failed)) throw failed;
    expect(failed.sessionID).toBe(damaged);
    expect(failed.message).toMatch(/^The session ses_\w+ is damaged: the stored entry \d+ cannot be read: /);
  };
  await failure(host.sessions.messages({ sessionID: damaged }));
  await failure(host.sessions.context({ sessionID: damaged }));
  const { items } = await host.sessions.list();
  expect(items.map(({ id }) => id)).toContain(other);
  await run(host, other, "Again");
  expect((await host.sessions.messages({ sessionID: other })).items).toHaveLength(4);
});

test("damaged sessions can be removed", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "One." });
  let host = await setup.open({ log: "off" });
  const { id: entry } = await host.sessions.create();
  const { id: record } = await host.sessions.create({ model: { providerID: "mock", id: "MARKED-TEXT" } });
  await run(host, entry, "MARKED-TEXT");
  await host.close();
  expect(damage(setup.database, "MARKED-TEXT")).toBeGreaterThan(1);

  host = await setup.open({ log: "off" });
  for (const sessionID of [entry, record]) await host.sessions.remove({ sessionID });
  await host.storage.compact();
  await expect(host.storage.stats()).resolves.toMatchObject({ sessions: 0, largest: [] });
});
