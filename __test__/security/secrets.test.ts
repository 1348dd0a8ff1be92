// Secrets of configuration and environment reach only the provider for which they are configured.

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateSync } from "node:zlib";
import type { JsonObject, OpenCodeEvent, OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { Screen, script } from "../embedded/pty-support";
import { readHistory, readMessages, run, setUp, type Setup } from "../embedded/support";
import { EchoProvider, headerText, stream, streamedError } from "./echo";

/** Fragments of text are sent before they can be checked completely: see docs/secrets.md. */
const FRAGMENTS = ["text.delta", "reasoning.delta", "tool.input.delta"].map((type) => `session.next.${type}`);

/** Secrets by the place in which they are configured. */
class Planted {
  readonly values = new Map<string, string>();

  plant(place: string) {
    const value = `${place.replaceAll(/[^a-z]/gi, "").slice(0, 8)}-${randomBytes(9).toString("hex")}`;
    this.values.set(place, value);
    return value;
  }

  headers(place: string, names: readonly string[]) {
    return Object.fromEntries(names.map((name) => [name, this.plant(`${place} ${name}`)]));
  }

  variables(names: readonly string[]) {
    return Object.fromEntries(names.map((name) => [name, this.plant(`variable ${name}`)]));
  }

  /** The surfaces that contain a secret in any encoding, with its place. */
  found(surfaces: ReadonlyMap<string, string>) {
    const found: string[] = [];
    for (const [place, value] of this.values) {
      const spellings = [value, Buffer.from(value).toString("base64").replace(/.?=*$/, "")];
      for (const [surface, text] of surfaces) {
        if (spellings.some((spelling) => text.includes(spelling))) found.push(`${place} in ${surface}`);
      }
    }
    return found;
  }
}

const PROVIDER_HEADERS = [
  "Ocp-Apim-Subscription-Key",
  "Helicone-Auth",
  "x-functions-key",
  "X-Portkey-Virtual",
  "cf-access-client",
  "X-Tenant",
  "X-Goog-User",
  "Cookie",
  "X-Amz-Security",
  "Private-Header",
];

const VARIABLES = [
  "OPENAI_API_KEY",
  "GROQ_API_KEY",
  "OPENCODE_SERVER_PASSWORD",
  "EXA_API_KEY",
  "PARALLEL_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "DATABASE_URL",
  "GITHUB_TOKEN",
  "STRIPE_CLIENT_SECRET",
  "stripe_api_key",
  "PGPASSWORD",
  "DEPLOY_PRIVATE_KEY",
  "REGISTRY_CREDENTIALS",
  "CI_JOB_TOKEN",
];

interface World {
  planted: Planted;
  provider: EchoProvider;
  setup: Setup;
  options: OpenCodeOptions;
  /** A configuration file that a command prints. */
  printed: string;
}

const providers: EchoProvider[] = [];

afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
});

async function plantAll(): Promise<World> {
  const [planted, provider, setup] = [new Planted(), await EchoProvider.start(), await setUp()];
  providers.push(provider);
  const key = (place: string) => planted.plant(place);
  const keyFile = path.join(setup.root, "key.txt");
  writeFileSync(keyFile, `${key("key in a file")}\n`);
  const query = `code=${key("query code")}&region=${key("query region")}&sig=${key("query sig")}`;
  const config: JsonObject = {
    model: "echo/m1",
    provider: {
      echo: {
        npm: "@ai-sdk/openai-compatible",
        options: {
          baseURL: `http://${provider.host}/v1?${query}`,
          apiKey: key("key in config"),
          headers: planted.headers("provider", PROVIDER_HEADERS),
          clientSecret: key("member of a body"),
        },
        models: {
          m1: {
            headers: planted.headers("model", ["X-Model-Pass", "X-Route"]),
            limit: { context: 200_000, output: 8_000 },
          },
        },
      },
      userinfo: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `http://${key("user")}:${key("password")}@${provider.host}/v1` },
        models: { m1: {} },
      },
      anthropic: { options: { baseURL: `http://${provider.host}/v1` }, models: { claude: {} } },
    },
    providers: {
      echo: {
        models: { m1: { variants: [{ id: "careful", headers: planted.headers("variant", ["X-Variant-Pass"]) }] } },
      },
    },
    agents: {
      careful: { mode: "primary", request: { headers: planted.headers("agent", ["X-Agent-Pass"]) } },
      build: { request: { headers: planted.headers("agent build", ["X-Build-Pass"]) } },
    },
  };
  // The user's own configuration takes secrets from files and variables.
  const configDirectory = path.join(setup.root, "user");
  const file = {
    npm: "@ai-sdk/openai-compatible",
    options: {
      baseURL: `http://${provider.host}/v1`,
      apiKey: `{file:${keyFile}}`,
      headers: { "X-From-Variable": "{env:PLAIN_NAME}" },
    },
    models: { m1: {} },
  };
  mkdirSync(configDirectory);
  writeFileSync(path.join(configDirectory, "opencode.json"), JSON.stringify({ provider: { file } }));
  const content = { provider: { other: { options: { apiKey: key("OPENCODE_CONFIG_CONTENT") }, models: { a: {} } } } };
  const env = {
    PATH: process.env["PATH"]!,
    SHOWN: "this variable is no secret",
    ...planted.variables(VARIABLES),
    ANTHROPIC_API_KEY: key("variable ANTHROPIC_API_KEY"),
    PLAIN_NAME: key("variable named plainly"),
    SAME_AS_HEADER: planted.values.get("provider X-Tenant")!,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
  };
  // The configured secrets, in a file outside of the project. A variable that only has a suspicious name is not
  // configured. It is removed from commands, and texts are not searched for it.
  const printed = path.join(setup.root, "settings.txt");
  const configured = [...planted.values].filter(([place]) => !isOnlyNamed(place));
  writeFileSync(printed, configured.map(([place, value]) => `${place} = "${value}"`).join("\n"));
  const dataDirectory = path.join(setup.root, "data");
  return { planted, provider, setup, printed, options: { config, env, dataDirectory, configDirectory } };
}

function isOnlyNamed(place: string) {
  const name = /^variable ([A-Za-z_]+)$/.exec(place)?.[1] ?? "";
  const used = ["OPENAI_API_KEY", "GROQ_API_KEY", "ANTHROPIC_API_KEY", "OPENCODE_SERVER_PASSWORD"];
  return VARIABLES.includes(name) && !used.includes(name) && !["EXA_API_KEY", "PARALLEL_API_KEY"].includes(name);
}

/** All data of a session that a host shows. */
async function shown(host: OpenCodeHost, sessionID: string) {
  const exported: unknown[] = [];
  for await (const line of host.sessions.export({ sessionID })) exported.push(line);
  const read = {
    history: await readHistory(host, sessionID),
    messages: await readMessages(host, sessionID),
    context: await host.sessions.context({ sessionID }),
    exported,
    "sessions.request": await host.sessions.request({ sessionID }),
    "debug.context": await host.debug.context(),
    "models.list": await host.models.list(),
    "providers.list": await host.providers.list(),
    "providers.get": await host.providers.get({ providerID: "echo" }),
    "agents.list": await host.agents.list(),
    "commands.list": await host.commands.list(),
    "location.get": await host.location.get(),
    "location.diagnostics": await host.location.diagnostics(),
    "sessions.list": await host.sessions.list(),
    "integrations.list": await host.integrations.list(),
  };
  return new Map(Object.entries(read).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** All files below a folder, and the inflated content of Git objects. */
function files(folder: string) {
  const found = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = path.join(folder, name);
    if (!statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    found.set(`the file ${name}`, bytes.toString("latin1"));
    if (bytes[0] === 0x78) found.set(`the object ${name}`, inflate(bytes));
  }
  return found;
}

function inflate(bytes: Buffer) {
  try {
    return inflateSync(bytes).toString("latin1");
  } catch {
    return "";
  }
}

function databaseFiles(database: string) {
  const names = [database, `${database}-wal`, `${database}-shm`, `${database}.lock`].filter((name) => existsSync(name));
  return new Map(names.map((name) => [path.basename(name), readFileSync(name, "latin1")]));
}

test("stores and shows data that a provider repeats and commands print without forty secrets", async () => {
  const { planted, provider, setup, printed, options } = await plantAll();
  expect(planted.values.size).toBeGreaterThanOrEqual(40);
  spawnSync("git", ["init", "--quiet"], { cwd: setup.directory });
  setup.write("file.txt", "1");
  const host = await setup.open(options);
  const live: OpenCodeEvent[] = [];
  const following = (async () => {
    for await (const event of host.events.subscribe()) live.push(event);
  })();
  const thrown: string[] = [];
  const sessionID = (await host.sessions.create()).id;
  const ask = async (text: string) => {
    await run(host, sessionID, text).catch((error: unknown) => thrown.push(String(error), JSON.stringify(error)));
  };
  const model = (providerID: string, id = "m1", variant?: string) =>
    host.sessions.switchModel({ sessionID, model: { providerID, id, ...(variant && { variant }) } });

  // Failures repeat only short bodies, so each of these repeats a few lines.
  for (let index = 0; index < 12; index += 1) {
    provider.answer((echo) => ({
      status: 400,
      body: echo
        .split("\n")
        .slice(2 * index, 2 * index + 2)
        .join(" ")
        .slice(0, 480),
    }));
    await ask(`repeat ${index}`);
  }
  const refused = (status: number) => (echo: string) => ({
    status,
    body: JSON.stringify({ error: { message: echo } }),
  });
  const failures = [
    refused(400),
    refused(401),
    (echo: string) => ({ status: 403, body: echo.replaceAll("\n", " ") }),
    (echo: string) => ({ status: 404, headers: { "content-type": "text/html" }, body: `<html><p>${echo}</p></html>` }),
    (_: string, headers: object) => ({
      status: 422,
      headers: { "x-request-id": headerText({ ...headers }) },
      body: "no",
    }),
    streamedError,
    (echo: string) => ({ body: `data: ${echo.replaceAll("\n", " ")}\n\n` }),
  ];
  for (const [index, failure] of failures.entries()) {
    provider.answer(failure);
    await ask(`fail ${index}`);
  }
  await model("echo", "m1", "careful");
  await host.sessions.switchAgent({ sessionID, agent: "careful" });
  provider.answer(refused(400));
  await ask("fail with a variant");
  for (const id of ["userinfo", "file"]) {
    await model(id);
    provider.answer(refused(400), streamedError, (echo) => stream(echo));
    await ask("fail");
    await ask("fail in the stream");
    await ask("say it");
  }
  await model("anthropic", "claude");
  provider.answer(refused(400));
  await ask("fail");

  await model("echo");
  await host.sessions.switchAgent({ sessionID, agent: "build" });
  provider.answer(
    (echo) => stream(echo, echo, "env; echo done > made.txt"),
    (echo) => stream(echo, echo, `cat ${printed}`),
    // More than a message holds, so that it is written to a file.
    () =>
      stream(
        "again",
        undefined,
        `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat ${printed}; done; seq 1 9000`,
      ),
    () => stream(readFileSync(printed, "utf8"), readFileSync(printed, "utf8")),
  );
  await ask("run");
  await host.sessions.compact({ sessionID }).catch((error: unknown) => thrown.push(String(error)));
  await host.sessions.wait({ sessionID });

  const listened = planted.plant("password of the listener");
  const listener = await host.listen({ password: listened });
  const terminal = await host.ptys.create(script("read x; env"));
  const authorization = `Basic ${Buffer.from(`opencode:${listened}`).toString("base64")}`;
  const screen = new Screen(`${listener.url}/api/pty/${terminal.data.id}/connect`, { authorization });
  screen.type("\n");
  const printedByTerminal = (await screen.rest()).text;
  expect(printedByTerminal).toContain("SHOWN=this variable is no secret");

  const surfaces = await shown(host, sessionID);
  surfaces.set("the terminal", printedByTerminal);
  surfaces.set("errors thrown", thrown.join("\n"));
  for (const [name, text] of databaseFiles(setup.database)) surfaces.set(`${name} while open`, text);
  await host.close();
  await following.catch(() => {});
  const whole = live.filter(({ type }) => !FRAGMENTS.includes(type));
  surfaces.set("live events", JSON.stringify(whole));
  for (const [name, text] of databaseFiles(setup.database)) surfaces.set(name, text);
  for (const [name, text] of files(options.dataDirectory!)) surfaces.set(name, text);

  // Checks the scenario itself: the provider received the secrets, and the command saw variables.
  const meant = /^(key in|query|user|password$|provider|model|variant |agent|variable (named|ANTHROPIC))/;
  const unsent = [...planted.values].filter(([, value]) => !provider.received.includes(value));
  expect(unsent.map(([place]) => place).filter((place) => meant.test(place))).toEqual([]);
  const messages = surfaces.get("messages")!;
  expect(messages).toContain("SHOWN=this variable is no secret");
  expect(messages).toContain("full content saved to");
  expect([...surfaces.keys()].filter((name) => name.includes("tool-output") || name.includes("object"))).not.toEqual(
    [],
  );
  expect(planted.found(surfaces)).toEqual([]);
});

test("a process writes none of them to its standard streams", async () => {
  const { planted, provider, setup, options } = await plantAll();
  const own = (line: string) => /^(x-|ocp|helicone|cookie|private)/.test(line);
  provider.answer((echo) => ({ status: 400, body: echo.split("\n").filter(own).join(" ").slice(0, 490) }));
  const program = `
    const { OpenCode } = require(${JSON.stringify(path.resolve(__dirname, "../../index.js"))});
    (async () => {
      const opencode = await OpenCode.create(JSON.parse(process.argv[1]));
      const run = opencode.sessions.run({ prompt: "Hi" });
      for await (const part of run) console.log(JSON.stringify(part));
      console.log(JSON.stringify(await run.result));
      await opencode.listen({ password: process.argv[2], port: 0 }).then((listener) => console.log(listener));
      await opencode.sessions.get({ sessionID: "ses_none" }).catch((error) => console.error(error));
      console.log(opencode, await opencode.providers.list());
      await opencode.close();
    })();`;
  const password = planted.plant("password of the listener");
  const given = JSON.stringify(setup.options(options));
  const { status, stdout, stderr } = await spawned(program, [given, password]);
  expect(status).toBe(0);
  expect(stdout).toContain('"failed"');
  expect(planted.found(new Map(Object.entries({ stdout, stderr })))).toEqual([]);
});

async function spawned(program: string, args: string[]) {
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, ["-e", program, ...args], { env: { RUST_LOG: "trace" } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (stderr += data.toString()));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, stdout, stderr };
}
