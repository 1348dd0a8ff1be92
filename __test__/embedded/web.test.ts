// The tools `webfetch` and `websearch`, against servers of this machine.

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { run, setUpSession } from "./support";

type Started = Awaited<ReturnType<typeof setUpSession>>;

const servers: Server[] = [];

afterEach(async () => {
  const ended = servers.splice(0).map((server) => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    return closed;
  });
  await Promise.all(ended);
});

/** Starts a server for the running test. Returns its address. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, address: `http://127.0.0.1:${port}` };
}

/** The result of one call that the model received. */
async function callTool({ host, model, sessionID }: Started, name: string, input: object): Promise<string> {
  model.reply({ tools: [{ name, input }] }, { text: "Done." });
  await run(host, sessionID, "Look it up");
  return String(model.requests.at(-1)?.body.messages.at(-1).content);
}

async function fetched(started: Started, url: string, more: object = {}) {
  return callTool(started, "webfetch", { url, ...more });
}

test("returns a page as Markdown, as text and as HTML", async () => {
  const html = "<html><head><title>Page</title></head><body><h1>One</h1><ul><li>a<li><b>b</b></ul></body></html>";
  const seen: IncomingMessage[] = [];
  const { address } = await serve((request, response) => {
    seen.push(request);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip" });
    response.end(gzipSync(html));
  });
  const started = await setUpSession();
  expect(await fetched(started, `${address}/page?a=b`)).toBe("Page\n\n# One\n\n- a\n- **b**");
  expect(await fetched(started, address, { format: "text" })).toBe("PageOneab");
  expect(await fetched(started, address, { format: "html" })).toBe(html);
  expect(seen.map(({ method, url, headers }) => [method, url, headers["accept-language"]])).toEqual([
    ["GET", "/page?a=b", "en-US,en;q=0.9"],
    ["GET", "/", "en-US,en;q=0.9"],
    ["GET", "/", "en-US,en;q=0.9"],
  ]);
});

test("reports an error status, a binary answer and an answer that is too large", async () => {
  const megabytes = 6 * 1024 * 1024;
  const agents: (string | undefined)[] = [];
  const { address } = await serve((request, response) => {
    switch (request.url) {
      case "/announced":
        response.writeHead(200, { "content-type": "text/plain", "content-length": megabytes }).flushHeaders();
        return;
      case "/sent":
        response.writeHead(200, { "content-type": "text/plain" }).end("a".repeat(megabytes));
        return;
      case "/image":
        response.writeHead(200, { "content-type": "image/png" }).end("a");
        return;
      case "/loop":
        response.writeHead(302, { location: "/loop" }).end();
        return;
      case "/slow":
        response.writeHead(200, { "content-type": "text/plain" }).write("and then");
        return;
      case "/challenge":
        agents.push(request.headers["user-agent"]);
        if (agents.length === 1) response.writeHead(403, { "cf-mitigated": "challenge" }).end("no");
        else response.end("come in");
        return;
      default:
        response.writeHead(404).end();
    }
  });
  const started = await setUpSession();
  for (const [path, reason] of [
    ["/missing", "the server answers 404 Not Found"],
    ["/announced", "the answer is larger than 5242880 bytes"],
    ["/sent", "the answer is larger than 5242880 bytes"],
    ["/image", "it is image/png, which is no text"],
    ["/loop", "it redirects more than 10 times"],
    ["/slow", "it takes too long; try a larger timeout"],
  ]) {
    const url = `${address}${path}`;
    const { error } = JSON.parse(await fetched(started, url, path === "/slow" ? { timeout: 0.3 } : {}));
    expect(error.message).toBe(`Unable to fetch ${url}: ${reason}`);
  }
  expect(await fetched(started, `${address}/challenge`)).toBe("come in");
  expect(agents).toEqual([expect.stringContaining("Mozilla/5.0"), "opencode"]);
});

test("does not contact a forbidden server to which an allowed one redirects", async () => {
  const forbidden: IncomingMessage[] = [];
  const elsewhere = await serve((request, response) => {
    forbidden.push(request);
    response.end("secret");
  });
  const { address } = await serve((_, response) => {
    response.writeHead(302, { location: elsewhere.address }).end();
  });
  const started = await setUpSession();
  expect(await fetched(started, address)).toBe("secret");
  const permissions = [
    { action: "webfetch", resource: "*", effect: "deny" },
    { action: "webfetch", resource: address, effect: "allow" },
  ] as const;
  const { setup, model } = started;
  const other = await setup.open({ database: ":memory:", config: { ...model.config(), permissions } });
  const session = await other.sessions.create();
  const { error } = JSON.parse(await fetched({ ...started, host: other, sessionID: session.id }, address));
  expect(error.message).toMatch(`Unable to fetch ${address}: it is not allowed`);
  expect(forbidden).toHaveLength(1);
});

test("an interruption ends the request to the server", async () => {
  const { host, model, sessionID } = await setUpSession();
  const { server, address } = await serve(() => {});
  model.reply({ tools: [{ name: "webfetch", input: { url: address } }] });
  const asked: Promise<[IncomingMessage]> = once(server, "request") as Promise<[IncomingMessage]>;
  await host.sessions.prompt({ sessionID, prompt: { text: "Look it up" } });
  const [request] = await asked;
  const left = once(request.socket, "close");
  await host.sessions.interrupt({ sessionID });
  await left;
  await host.sessions.wait({ sessionID });
});

test("searches the web through the proxy of the host, and failures contain no key", async () => {
  const { server, address } = await serve(() => {});
  const tunnels: (string | undefined)[] = [];
  server.on("connect", (request, socket) => {
    tunnels.push(request.url);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  const env = { https_proxy: address, OPENCODE_WEBSEARCH_PROVIDER: "exa", EXA_API_KEY: "key-1" };
  const started = await setUpSession({ env });
  const content = await callTool(started, "websearch", { query: "news" });
  const { message } = JSON.parse(content).error;
  expect(message).toMatch(/^Unable to search the web for news: exa cannot be asked, /);
  expect(content).not.toContain("key-1");
  expect(tunnels).toEqual(["mcp.exa.ai:443"]);
});
