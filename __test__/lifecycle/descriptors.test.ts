import { setUp } from "../embedded/support";
import { Child } from "./child";

/** Runs a command that may have so few descriptors. */
const FEW = ["/bin/sh", "-c", 'ulimit -n 200; exec "$0" "$@"'];

test("a connection that cannot be accepted is a warning in the log, and is accepted later", async () => {
  const setup = await setUp();
  const { log: _, ...options } = setup.options();
  const child = new Child("descriptors", { options }, FEW);
  const { url } = await child.said("listening");
  const { count } = await child.said("full");
  expect(count).toBeLessThan(200);
  const asked = fetch(`${url}/api/health`);
  const { entry } = await child.said("entry");
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

test.each([0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24])(
  "a process with %i descriptors left rejects, or opens",
  async (left) => {
    const setup = await setUp();
    const child = new Child("few-descriptors", { options: setup.options(), left }, FEW);
    const outcome = await child.said("ended");
    if (left < 3) expect(outcome).toMatchObject({ tag: "AddonUnavailableError", message: expect.any(String) });
    if (left >= 24) expect(outcome).not.toHaveProperty("tag");
    await expect(child.exited).resolves.toBe(0);
    expect(child.errors).toBe("");
  },
);
