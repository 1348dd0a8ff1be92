import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readUntil, setUp } from "./support";

/** Number of files that the snapshot before the first request has to read. */
const FILES = 60_000;

test("sends the request for the new directory if the session moves during a capture", async () => {
  const setup = await setUp();
  const { directory } = setup;
  execFileSync("git", ["init", "-q", directory]);
  mkdirSync(path.join(directory, "many"));
  for (let at = 0; at < FILES; at += 1) writeFileSync(path.join(directory, "many", `${at}.txt`), `${at}\n`);
  const destination = path.join(directory, "destination");
  mkdirSync(destination);
  writeFileSync(path.join(destination, "AGENTS.md"), "Speak of the destination.\n");
  setup.model.reply({ text: "Here." });
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create({});
  const events = host.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await host.sessions.prompt({ sessionID, prompt: { text: "Where?" } });
  await readUntil(events, "session.next.prompted");
  await host.sessions.move({ sessionID, location: { directory: destination } });
  const requestsAtMove = setup.model.requests.length;
  await host.sessions.wait({ sessionID });
  await events.return?.();

  expect(requestsAtMove).toBe(0);
  expect(setup.model.requests).toHaveLength(1);
  const request = JSON.stringify(setup.model.requests[0]!.body);
  expect(request).toContain(`Working directory: ${destination}`);
  expect(request).toContain("Speak of the destination.");
  expect(request).not.toContain(`Working directory: ${directory}\\n`);
});
