import { once } from "node:events";
import { mkdirSync, statSync, readdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { OpenCode } from "../../index.js";
import { setUp } from "./support";
import type { Setup } from "./support";
import type { OpenCodeHost } from "../../index.js";

// Configuration of organisations and administrators: the options `remoteConfig` and `managedConfigDirectory`.

type Answers = Record<string, unknown>;

/** A server that answers with JSON or a text at each path, and the requests to it. */
async function organisation(answers: Answers) {
  const requests: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    const answer = answers[request.url ?? ""];
    if (answer === undefined) response.writeHead(404).end();
    else response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, requests, close, [Symbol.asyncDispose]: async () => close() };
}

const agent = (description: string) => ({ agent: { guide: { description, mode: "primary" } } });

async function open(more: object) {
  const setup = await setUp();
  const cacheDirectory = path.join(setup.root, "cache");
  return { setup, cacheDirectory, host: await setup.open({ cacheDirectory, ...more }) };
}

const guide = async (host: OpenCodeHost) =>
  (await host.agents.list()).data.find(({ id }) => id === "guide")?.description;

/** True if the model can read a file of the project. */
async function readsFile(setup: Setup, host: OpenCodeHost) {
  setup.write("a.txt", "alpha\n");
  setup.model.reply({ tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "Done." });
  const { id: sessionID } = await host.sessions.create({});
  await host.sessions.prompt({ sessionID, prompt: { text: "Read" } });
  await host.sessions.wait({ sessionID });
  const { items } = await host.sessions.messages({ sessionID, order: "asc" });
  return JSON.stringify(items).includes("alpha");
}

test("configuration of an organisation is the weakest, and counts without a network", async () => {
  const answers: Answers = {
    "/.well-known/opencode": {
      config: agent("of the organisation"),
      remote_config: { url: "", headers: { "x-team": "1" } },
    },
    "/more.json": '{ "username": "team", /* a comment */ }',
  };
  await using server = await organisation(answers);
  Object.assign((answers["/.well-known/opencode"] as any).remote_config, { url: `${server.url}/more.json` });
  const secret = "token-of-the-organisation-4711";
  const remoteConfig = [{ url: server.url, headers: { authorization: `Bearer ${secret}` } }];
  const { setup, cacheDirectory, host } = await open({ remoteConfig });
  expect(await guide(host)).toBe("of the organisation");
  expect(server.requests.map(({ url }) => url)).toEqual(["/.well-known/opencode", "/more.json"]);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  expect(server.requests[1]?.headers["x-team"]).toBe("1");
  expect(server.requests[1]?.headers.authorization).toBeUndefined();
  expect((await host.location.diagnostics()).data).toEqual([]);

  answers["/.well-known/opencode"] = { config: agent("changed") };
  await host.location.reload({});
  expect(await guide(host)).toBe("changed");
  await host.close();
  server.close();
  const [copy] = readdirSync(path.join(cacheDirectory, "remote-config"));
  if (process.platform !== "win32") {
    expect(statSync(path.join(cacheDirectory, "remote-config")).mode & 0o077).toBe(0);
  }
  expect(copy).toBeDefined();

  const offline = await setup.open({ cacheDirectory, remoteConfig });
  expect(await guide(offline)).toBe("changed");
  await offline.close();
  // Configuration of the user is stronger.
  const config = { ...setup.model.config({}), ...agent("of the host") };
  const stronger = await setup.open({ cacheDirectory, remoteConfig, config: config as never });
  expect(await guide(stronger)).toBe("of the host");
});

test.each([
  ["a page", { "/.well-known/opencode": "<!doctype html><title>Sign in</title>" }, "answers with a page"],
  ["nothing", {}, "answers 404"],
  ["an empty document", { "/.well-known/opencode": {} }, "neither config nor remote_config"],
  [
    "a document elsewhere without encryption",
    { "/.well-known/opencode": { remote_config: { url: "http://example.com" } } },
    "https://",
  ],
])(
  "%s of a server without a copy is a diagnostic, and the host asks before everything",
  async (_, answers, problem) => {
    await using server = await organisation(answers as Answers);
    const { setup, host } = await open({ remoteConfig: [server.url], permissions: { unanswered: "deny" } });
    const { data } = await host.location.diagnostics();
    expect(data).toHaveLength(1);
    expect(JSON.stringify(data)).toContain(problem);
    expect(await readsFile(setup, host)).toBe(false);
  },
);

/** A host with a document of an administrator, and a document of the host. */
async function managed(document: object, own: object) {
  const setup = await setUp();
  const managedConfigDirectory = path.join(setup.root, "managed");
  mkdirSync(managedConfigDirectory);
  writeFileSync(path.join(managedConfigDirectory, "opencode.json"), JSON.stringify(document));
  const config = { ...setup.model.config({}), ...own };
  return { setup, host: await setup.open({ managedConfigDirectory, config: config as never }) };
}

test("the configuration of an administrator is the strongest", async () => {
  const { host } = await managed(agent("of the administrator"), agent("of the host"));
  expect(await guide(host)).toBe("of the administrator");
});

const allowed = { agent: { build: { permission: { read: "allow" } } } };

test.each([
  ["a rule", { permission: { read: "allow" } }],
  ["a rule of an agent", allowed],
])("%s of the host does not loosen a rule of an administrator", async (_, own) => {
  const { setup, host } = await managed({ permission: { read: "deny" } }, own);
  expect(await readsFile(setup, host)).toBe(false);
});

test("a rule of an administrator does not loosen a rule of the host", async () => {
  const { setup, host } = await managed(allowed, { permission: { read: "deny" } });
  expect(await readsFile(setup, host)).toBe(false);
});

test("a provider that an administrator forbids stays forbidden", async () => {
  const { host } = await managed({ disabled_providers: ["mock"] }, { enabled_providers: ["mock"] });
  expect((await host.models.list()).data).toEqual([]);
});

test.each([
  [{ remoteConfig: ["http://example.com"] }, "remoteConfig[0]"],
  [{ remoteConfig: [{ url: "https://example.com", headers: { "a b": "c" } }] }, "remoteConfig[0]"],
  [{ remoteConfig: [{}] }, "remoteConfig[0]"],
  [{ remoteConfig: "https://example.com" }, "remoteConfig"],
  [{ managedConfigDirectory: "relative" }, "managedConfigDirectory"],
])("%j is refused", async (options, option) => {
  const opened = OpenCode.create(options as never);
  await expect(opened).rejects.toMatchObject({ _tag: "InvalidOptionError", option });
});
