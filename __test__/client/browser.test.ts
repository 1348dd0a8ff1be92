import path from "node:path";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { events, json } from "./support";

const root = path.resolve(__dirname, "../..");

/** Bundles a program for browsers. The program imports the package by its name. */
function bundle(program: string, minify = false) {
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: program, resolveDir: root },
    bundle: true,
    minify,
    platform: "browser",
    format: "iife",
    globalName: "bundled",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  return { code: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) };
}

const client = bundle('export * from "opencode-embedded/client"');

/** All globals of a browser that the client needs, and none of Node. */
const WEB = {
  AbortController,
  Headers,
  ReadableStream,
  TextDecoder,
  TextEncoder,
  URL,
  clearTimeout,
  setTimeout,
};

/** Runs a bundle and its program in a new realm that has only these globals. */
function run(program: string, fetch: (url: string) => Promise<Response>) {
  const context = vm.createContext({ ...WEB, fetch });
  vm.runInContext(client.code, context);
  return vm.runInContext(`(async () => { ${program} })()`, context) as Promise<string>;
}

test("the bundle contains the client and nothing else", () => {
  const foreign = client.inputs.filter((input) => !input.startsWith("dist/client/") && input !== "<stdin>");
  expect(foreign).toEqual([]);
  expect(client.inputs).toContain("dist/client/resume.js");
});

test("the minified bundle has at most 20 KiB after compression", () => {
  const { code } = bundle('export * from "opencode-embedded/client"', true);
  expect(gzipSync(code).length).toBeLessThan(20 * 1024);
});

test.each(["fs", "node:fs", "./dist/host/native.js", "./index.js"])("a bundle with %s fails", (name) => {
  expect(() => bundle(`import ${JSON.stringify(name)}`)).toThrow();
});

test("the client works in a realm that has only the globals of the web", async () => {
  const fetch = async (url: string) => {
    const { pathname, search } = new URL(url);
    if (pathname === "/at/api/health") return json({ healthy: true });
    if (pathname === "/at/api/session") return json({ data: [{ id: "ses_1" }], cursor: { previous: "p", next: "n" } });
    if (pathname === "/at/api/session/ses_1/event") {
      const seq = Number(new URLSearchParams(search).get("after")) + 1;
      return events([`data: {"durable":{"seq":${seq}}}\r\n\r\n`]);
    }
    return json({ _tag: "SessionNotFoundError", sessionID: "ses_2", message: "none" }, 404);
  };
  const program = `
    const { createClient, isClientError, isSessionNotFoundError, resumeEvents } = bundled;
    const client = createClient({ baseUrl: "https://host/at" });
    const results = [await client.health.get(), await client.sessions.list({ limit: 1 })];
    for await (const event of client.sessions.events({ sessionID: "ses_1" })) results.push(event);
    for await (const event of resumeEvents(client, { sessionID: "ses_1", minDelayMs: 1 })) {
      if (results.push(event) === 5) break;
    }
    const missing = await client.sessions.get({ sessionID: "ses_2" }).catch((error) => error);
    results.push(missing instanceof Error && isSessionNotFoundError(missing) && missing);
    const controller = new AbortController();
    controller.abort("enough");
    const aborted = await client.health.get({ signal: controller.signal }).catch((error) => error);
    results.push([isClientError(aborted), aborted.reason, aborted.cause]);
    return JSON.stringify(results);
  `;
  expect(JSON.parse(await run(program, fetch))).toEqual([
    { healthy: true },
    { items: [{ id: "ses_1" }], previous: "p", next: "n" },
    { durable: { seq: 1 } },
    { durable: { seq: 1 } },
    { durable: { seq: 2 } },
    { _tag: "SessionNotFoundError", sessionID: "ses_2", message: "none" },
    [true, "Transport", "enough"],
  ]);
});
