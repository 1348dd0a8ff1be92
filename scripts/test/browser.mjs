// A page with `useChat` in Chromium, over the example server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync } from "node:fs";
import { createServer, request } from "node:http";
import { createInterface } from "node:readline";
import { Failure } from "../lib/failure.mjs";
import { inProject } from "../lib/project.mjs";
import { runChecks } from "./checks.mjs";
import { modelEnv, withModel } from "./model.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/** The usual places of a browser. */
const BROWSERS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** Tests reach loopback alone. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @type {import("./report.mjs").Stage} */
export const browser = {
  title: "Browser",
  run: (say) => runChecks([["a reload continues the answer", reload]], say),
};

async function reload() {
  // Imported here, because an earlier stage installs it.
  const { chromium } = await import("playwright-core");
  const executablePath = findBrowser();
  const script = await bundle();
  await withModel((model) =>
    withServer(model, async (api) => {
      const address = new URL(api);
      const site = createServer((incoming, response) => {
        if (incoming.url?.startsWith("/chat")) return forward(address, incoming, response);
        if (incoming.url === "/page.js") return void response.setHeader("content-type", "text/javascript").end(script);
        response.setHeader("content-type", "text/html").end('<body><script type="module" src="/page.js"></script>');
      });
      site.listen(0, "127.0.0.1");
      await once(site, "listening");
      const started = await chromium.launch({ executablePath, args: ARGUMENTS });
      try {
        const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());
        await talk(model, await started.newPage(), api, `http://127.0.0.1:${port}`);
      } finally {
        await started.close();
        site.close();
        site.closeAllConnections();
      }
    }),
  );
}

/**
 * @param {any} model
 * @param {import("playwright-core").Page} page
 * @param {string} api
 * @param {string} origin
 */
async function talk(model, page, api, origin) {
  model.reply({ deltas: ["one ", "two ", "three"], gate: "middle" }, { text: "four" });
  const { id } = await (await fetch(api, { method: "PUT" })).json();
  await page.goto(`${origin}/?id=${id}`);
  await send(page, "Count");
  await page.getByText("one two").waitFor();
  await page.reload();
  await page.locator("p.user", { hasText: "Count" }).waitFor();
  model.release("middle");
  await page.getByText("one two three").waitFor();
  await send(page, "More");
  await page.getByText("four").waitFor();
  await page.reload();
  await page.getByText("four").waitFor();
  const shown = await page.locator("p").allTextContents();
  const expected = ["Count", "one two three", "More", "four"];
  if (shown.join("|") !== expected.join("|")) throw new Error(`Expected ${expected.join("|")}, got ${shown.join("|")}`);
  if (model.requests.length !== 2) throw new Error(`Expected 2 requests, got ${model.requests.length}`);
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} text
 */
async function send(page, text) {
  await page.locator("input").fill(text);
  await page.locator("input").press("Enter");
}

function findBrowser() {
  const found = BROWSERS.find((file) => file !== undefined && exists(file));
  if (found === undefined) throw new Failure("No Chromium was found. Install it, or set CHROMIUM to its path");
  return found;
}

/** @param {string} file */
function exists(file) {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
}

async function bundle() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [inProject("scripts/test/browser/page.jsx")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * The example server while `use` runs.
 *
 * @param {{ url: string }} model
 * @param {(api: string) => Promise<void>} use
 */
async function withServer(model, use) {
  const scratch = createScratch();
  const child = spawn(process.execPath, [inProject("examples/use-chat.mjs")], {
    cwd: scratch.folder,
    env: userlessEnv(scratch, { ...modelEnv(model), PORT: "0" }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  try {
    const [line] = await once(createInterface(child.stdout), "line");
    await use(line);
  } finally {
    child.kill();
    await closed;
    scratch.remove();
  }
}

/**
 * Forwards a request, because pages reach only their own origin.
 *
 * @param {URL} target
 * @param {import("node:http").IncomingMessage} incoming
 * @param {import("node:http").ServerResponse} outgoing
 */
function forward(target, incoming, outgoing) {
  const { method = "GET", headers, url = "" } = incoming;
  const outcome = request({ host: target.hostname, port: target.port, method, headers, path: url });
  outgoing.on("close", () => outcome.destroy());
  outcome.on("error", () => outgoing.destroy());
  outcome.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(outcome);
}
