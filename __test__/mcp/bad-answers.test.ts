// Answers of MCP servers, results of tools of the program, and files of prompts that a provider would refuse.

import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { callTools, failure } from "../program/support";
import { run, setUpSession } from "../embedded/support";

const JPEG =
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBD/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

const GARBAGE = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(8_000_000)]).toString("base64");

/** Files with what is expected of each: the beginning of the image in the request, or a part of the line in its place. */
const FILES: [what: string, mime: string, data: string, expected: string][] = [
  ["a JPEG that is declared as a PNG", "image/png", JPEG, `data:image/jpeg;base64,${JPEG}`],
  ["a JPEG of the type image/jpg", "image/jpg", JPEG, `data:image/jpeg;base64,${JPEG}`],
  ["a text that is declared as a PNG", "image/png", btoa("this is no image"), "cannot be decoded"],
  ["a small PNG before millions of bytes", "image/png", GARBAGE, "data:image/png;base64,iVBOR"],
];

interface Message {
  id?: number;
  method: string;
  params?: { arguments: Record<string, never> };
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server with the tool `look`, whose calls are answered with this. Returns its configuration. */
async function serve(answer: (message: Message) => { status?: number; body: unknown }) {
  const results: Record<string, (message: Message) => object> = {
    initialize: () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object" } }] }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const message: Message = JSON.parse(Buffer.concat(chunks).toString());
      if (message.id === undefined) return void response.writeHead(202).end();
      const result = results[message.method]?.(message);
      const { status = 200, body } =
        result === undefined ? answer(message) : { body: { jsonrpc: "2.0", id: message.id, result } };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { type: "remote", url: `http://127.0.0.1:${port}/mcp`, oauth: false } as const;
}

type Started = Awaited<ReturnType<typeof setUpSession>>;

/** Checks what the last requests have, and that the next turn works. */
async function check({ host, model, sessionID }: Started, data: string, mime: string, expected: string) {
  model.reply({ text: "Next." });
  await run(host, sessionID, "Go on");
  const sent = JSON.stringify(model.requests.at(-1)?.body);
  expect(sent).toContain(expected);
  expect(sent).not.toContain(`data:${mime};base64,${data}`);
  expect(sent.length).toBeLessThan(1_000_000);
}

test.each(FILES)("a result of an MCP server: %s", async (_what, mime, data, expected) => {
  const look = await serve(({ id }) => ({
    body: { jsonrpc: "2.0", id, result: { content: [{ type: "image", mimeType: mime, data }] } },
  }));
  const started = await setUpSession({ mcp: { s: look } });
  await callTools(started, { name: "s_look", input: {} });
  await check(started, data, mime, expected);
});

test.each(FILES)("a result of a tool of the program: %s", async (_what, mime, data, expected) => {
  const started = await setUpSession();
  started.host.tools.register({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    execute: () => ({ content: [{ type: "image", data, mediaType: mime }] }),
  });
  await callTools(started, { name: "look", input: {} });
  await check(started, data, mime, expected);
});

test.each(FILES.slice(0, 3))("a file of a prompt: %s", async (_what, mime, data, expected) => {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  model.reply({ text: "Seen." });
  const files = [{ uri: `data:${mime};base64,${data}`, name: "a.png" }];
  await host.sessions.prompt({ sessionID, prompt: { text: "Look", files } });
  await host.sessions.wait({ sessionID });
  await check(started, data, mime, expected);
});

test.each([
  ["no id", 422, null],
  ["the id of nothing", 400, "server-error"],
])("a failure with %s ends its call at once", async (_what, status, id) => {
  const error = { code: -32000, message: "Unprocessable: the reason" };
  const look = await serve(() => ({ status, body: { jsonrpc: "2.0", id, error } }));
  const started = await setUpSession({ mcp: { s: look } });
  const begun = Date.now();
  const [result] = await callTools(started, { name: "s_look", input: {} });
  expect(failure(result)).toBe("Unprocessable: the reason");
  expect(Date.now() - begun).toBeLessThan(20_000);
});
