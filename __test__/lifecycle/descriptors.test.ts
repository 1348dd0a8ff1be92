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
