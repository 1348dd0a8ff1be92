import type * as Package from "../../index.js";
import { rejection } from "../client/support";
import { run, setUp, readTranscript } from "./support";

function loadFresh(): typeof Package {
  jest.resetModules();
  return require("../../index.js");
}

function loadIsolated(): typeof Package {
  let loaded: typeof Package | undefined;
  jest.isolateModules(() => (loaded = require("../../index.js")));
  return loaded!;
}

describe.each([
  ["after jest.resetModules()", loadFresh],
  ["in jest.isolateModules()", loadIsolated],
])("a second copy of the package %s", (_, load) => {
  test("works at the same time as the first", async () => {
    const setup = await setUp();
    const first = await setup.open({ database: ":memory:" });
    const copy = load();
    const second = await copy.OpenCode.create(setup.options());
    for (const host of [first, second]) {
      const { id } = await host.sessions.create();
      setup.model.reply({ text: "Hello." });
      await run(host, id, "Hi");
      await expect(readTranscript(host, id)).resolves.toEqual(["user: Hi", "assistant: Hello."]);
    }
    await second.close();
    await expect(first.health.get()).resolves.toEqual({ healthy: true });
  });

  test("has guards that recognise the failures of the first, and the reverse", async () => {
    const setup = await setUp();
    const [first, second] = [load(), load()];
    expect(first.ClientError).not.toBe(second.ClientError);
    const host = await first.OpenCode.create(setup.options());
    const missing = await rejection(host.sessions.get({ sessionID: "ses_none" }));
    await host.close();
    const closed = await rejection(host.health.get());
    for (const copy of [first, second]) {
      expect(copy.isSessionNotFoundError(missing)).toBe(true);
      expect(copy.isTagged(missing, "SessionNotFoundError")).toBe(true);
      expect(copy.isConflictError(missing)).toBe(false);
      expect(copy.isClientError(closed)).toBe(true);
      expect(copy.isClientError(missing)).toBe(false);
    }
  });

  test("cannot open a file that the first has open", async () => {
    const setup = await setUp();
    await setup.open();
    await expect(load().OpenCode.create(setup.options())).rejects.toMatchObject({
      _tag: "DatabaseInUseError",
      path: setup.database,
    });
  });
});
