import path from "node:path";
import { describePlatform } from "../../dist/host/platform.js";
import { readMessages, setUp } from "../embedded/support";
import { Child } from "./child";

/** Runs a command with a limit of 200 descriptors. */
const FEW = ["/bin/sh", "-c", 'ulimit -n 200; exec "$0" "$@"'];

test("a connection that cannot be accepted is logged as a warning, and is accepted later", async () => {
  const setup = await setUp();
  const { log: _, ...options } = setup.options();
  const child = new Child("descriptors", { options }, FEW);
  const { url } = await child.printed("listening");
  const { count } = await child.printed("full");
  expect(count).toBeLessThan(200);
  const asked = fetch(`${url}/api/health`);
  const { entry } = await child.printed("entry");
  expect(entry).toMatchObject({
    level: "warn",
    target: "opencode::server",
    message: "a connection could not be taken",
    fields: { error: expect.any(String) },
  });
  await expect(asked.then(({ status }) => status)).resolves.toBe(200);
  child.kill("SIGKILL");
  await child.exited;
});

test.each([0, 1, 4, 8, 12, 16, 20, 24, 32, 48])(
  "with %i free descriptors a host opens or fails, and opens when there are more",
  async (free) => {
    const setup = await setUp();
    const child = new Child("few-descriptors", { options: setup.options(), free }, FEW);
    const { tag, message } = await child.printed("first");
    if (free < 16) expect(message).toMatch(/needs 16 file descriptors .* \(EMFILE\)\. Close files or raise the limit/);
    const refusal = free < 16 ? "AddonUnavailableError" : expect.stringMatching(/^[A-Z]\w+Error$/);
    if (free < 16 || tag !== null) expect(tag).toEqual(refusal);
    await expect(child.printed("second")).resolves.toMatchObject({ tag: null });
    await expect(child.exited).resolves.toBe(0);
  },
);

test("loading only the addon with too few descriptors never ends the process", async () => {
  const addon = path.resolve(__dirname, `../../opencode-embedded.${describePlatform()}.node`);
  const load = async (free: number) => {
    const child = new Child("few-descriptors", { addon, free }, FEW);
    const { notStarted, message } = await child.printed("first");
    await expect(child.exited).resolves.toBe(0);
    return typeof message === "string" ? "not loaded" : typeof notStarted === "string" ? "not started" : "started";
  };
  const loaded = [];
  for (let free = 0; free <= 12; free++) loaded.push(await load(free));
  expect(loaded[0]).toBe("not loaded");
  expect(loaded).toContain("not started");
  expect(loaded.at(-1)).toBe("started");
});

test("the database works again after a shortage of descriptors", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Done." });
  const child = new Child("shortage", { options: setup.options(), bytes: 100_000 }, FEW);
  const { count, sessionID, ids, prompts, failures, outcome } = await child.printed("done");
  await expect(child.exited).resolves.toBe(0);
  expect(count).toBeGreaterThan(0);
  expect(outcome).toBe("completed");
  expect(failures).toEqual(failures.map(() => expect.stringMatching(/^[A-Z]\w+Error$/)));
  const host = await setup.open();
  for (const id of ids) await expect(host.sessions.get({ sessionID: id })).resolves.toMatchObject({ id });
  const messages = await readMessages(host, String(sessionID));
  // The acknowledged prompts, and the last one.
  expect(messages.filter(({ type }) => type === "user")).toHaveLength(prompts + 1);
});
