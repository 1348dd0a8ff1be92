import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serveRepository } from "./git-server";
import { recorder } from "./log-support";
import { readUntil, run, setUp, subscribe } from "./support";
import type { LogEntry } from "../../index.js";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function setUpServers() {
  const setup = await setUp();
  const repository = await serveRepository(path.join(setup.root, "origin"));
  const files = new Map<string, string>();
  const server = createServer(({ url }, response) => {
    const content = files.get(url ?? "");
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(repository.close, () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const env = { PATH: process.env.PATH! };
  return {
    setup,
    repository,
    files,
    skills: `http://127.0.0.1:${port}/skills`,
    env,
    dataDirectory: path.join(setup.root, "data"),
  };
}

/** True for the entry about the end of an attempt. */
const isMade = ({ message }: LogEntry) => message === "a copy was made";
const isFailed = ({ message }: LogEntry) => message === "a copy was not made";

/** Returns the first of some attempts that is updated within 30 seconds. */
async function cloned<T extends { updated: Promise<unknown> }>(
  attempts: number,
  open: (attempt: number) => Promise<T>,
) {
  for (let attempt = 1; ; attempt++) {
    const opened = await open(attempt);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), 30_000)));
    const isUpdated = await Promise.race([opened.updated.then(() => true), late]);
    clearTimeout(timer);
    if (isUpdated) return opened;
    if (attempt === attempts) throw new Error(`The repository was not cloned in ${attempts} attempts`);
  }
}

test("a Git reference is cloned in the background, and the model is told its directory", async () => {
  const { setup, repository, env, dataDirectory } = await setUpServers();
  repository.commit("Prefer small functions.");
  const references = { guides: { repository: repository.address, description: "The guides of the team." } };
  // A loaded machine may interrupt the small server of this test, and a host tries again after minutes only.
  const { host, data } = await cloned(3, async (attempt) => {
    const options = {
      env,
      dataDirectory: `${dataDirectory}${attempt}`,
      database: path.join(setup.root, `${attempt}.db`),
    };
    const opened = await setup.open({ config: setup.model.config({ references }), ...options });
    const events = await subscribe(opened);
    const listed = await opened.references.list();
    expect(listed.data).toMatchObject([{ name: "guides", description: "The guides of the team." }]);
    return { host: opened, data: listed.data, updated: readUntil(events, "reference.updated") };
  });
  expect(readFileSync(path.join(data[0]!.path, "guide.md"), "utf8")).toBe("Prefer small functions.");
  expect((await host.location.diagnostics()).data).toEqual([]);
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Read." });
  await run(host, sessionID, "Read the guides");
  expect(JSON.stringify(setup.model.requests[0]?.body)).toContain(data[0]!.path);
});

test("a turn does not wait for a repository that cannot be cloned, and the diagnostics name the reason", async () => {
  const { setup, repository, env, dataDirectory } = await setUpServers();
  // The repository has no commit, so it has no branch.
  const references = { guides: { repository: repository.address, description: "Guides" } };
  const { log, find } = recorder();
  const host = await setup.open({ config: setup.model.config({ references }), env, dataDirectory, log });
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, sessionID, "Hello");
  await find(isFailed);
  const { data } = await host.location.diagnostics();
  expect(data).toMatchObject([
    { kind: "ignored", message: expect.stringMatching(/^The reference guides has no clone at .*: /) },
  ]);
});

test("skills behind an address are fetched, and the next turn knows them", async () => {
  const { setup, files, skills, env, dataDirectory } = await setUpServers();
  files.set("/skills/index.json", JSON.stringify({ skills: [{ name: "review", version: "1", files: ["SKILL.md"] }] }));
  files.set("/skills/review/SKILL.md", "---\nname: review\ndescription: Reviews changes.\n---\nLook twice.");
  const { log, find } = recorder();
  const config = setup.model.config({ skills: [skills] });
  const host = await setup.open({ config, env, dataDirectory, log: { level: "info", sink: log } });
  expect((await host.skills.list()).data).toEqual([]);
  await find(isMade);
  expect((await host.skills.list()).data).toMatchObject([{ name: "review", description: "Reviews changes." }]);
  const { id: sessionID } = await host.sessions.create();
  setup.model.reply({ text: "Hello." });
  await run(host, sessionID, "Hello");
  expect(JSON.stringify(setup.model.requests[0]?.body)).toContain("Reviews changes.");
});

test("a list with unsafe names stores nothing, and is a diagnostic", async () => {
  const { setup, files, skills, env, dataDirectory } = await setUpServers();
  files.set("/skills/index.json", JSON.stringify({ skills: [{ name: "../../evil", files: ["SKILL.md"] }] }));
  const { log, find } = recorder();
  const host = await setup.open({ config: setup.model.config({ skills: [skills] }), env, dataDirectory, log });
  await host.skills.list();
  await find(isFailed);
  const { data } = await host.location.diagnostics();
  expect(data).toMatchObject([{ message: expect.stringMatching(/^The skills of http.* are not available: .*evil/) }]);
  expect((await host.skills.list()).data).toEqual([]);
});

test("a project that the host does not trust starts no clone and no request", async () => {
  const { setup, repository, skills, env, dataDirectory } = await setUpServers();
  repository.commit("one");
  setup.write(
    "opencode.json",
    JSON.stringify({ references: { r: { repository: repository.address } }, skills: [skills] }),
  );
  const host = await setup.open({ env, dataDirectory });
  expect((await host.references.list()).data).toEqual([]);
  expect((await host.location.diagnostics()).data.map(({ message }) => message)).toEqual([
    expect.stringContaining("The reference r leads out of the project"),
    expect.stringContaining("This place of skills leads out of the project"),
  ]);
});
