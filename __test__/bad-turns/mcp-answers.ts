// Answers of MCP servers to the call of a tool, as careless servers send them.

import { GIF, PNG } from "./results";
import { ID } from "./servers";
import type { Frame } from "./streams";

const answer = (result: unknown) => ({ jsonrpc: "2.0", id: ID, result });
const contents = (...content: unknown[]) => [answer({ content })];
const text = (value: unknown) => ({ type: "text", text: value });
const image = (data: unknown, mimeType: unknown = "image/png") => ({ type: "image", data, mimeType });
const resource = (uri: unknown, more: object) => ({ type: "resource", resource: { uri, ...more } });
const error = (id: unknown, message: unknown = "It does not work.") => [
  { jsonrpc: "2.0", id, error: { code: -32_000, message } },
];

/** A value that is nested this deep. */
function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

/** An answer in which a text stands in the place of its result. */
const raw = (result: string) => [`{"jsonrpc":"2.0","id":"${ID}","result":${result}}`];

export const MCP_ANSWERS: readonly (readonly Frame[])[] = [
  contents(text("It works.")),
  contents(text("One."), text(""), text(" \n")),
  contents(),
  [answer({})],
  [answer(null)],
  [answer("It works.")],
  [answer([text("It works.")])],
  contents(text("half \ud800"), text("\udc00 half"), text("a\u0000b")),
  contents(text("x".repeat(3_000_000))),
  contents(text(7), text(null), text({ a: 1 }), 7, null, "a", ["b"]),
  contents(image(PNG), image(GIF, "image/gif"), image(PNG, "image/jpg")),
  contents(image("this is no image"), image("%%%%"), image(""), image(7), image(PNG, 7), image(PNG, "a b; c")),
  contents(image(Buffer.from(PNG, "base64").subarray(0, 40).toString("base64"))),
  contents(image(Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(1_000_000)]).toString("base64"))),
  contents({ type: "audio", data: "UklGRg==", mimeType: "audio/wav" }, { type: "audio", data: PNG }),
  contents({ type: "video", data: PNG, mimeType: "video/mp4" }, { type: "tool_use", id: "c1" }, { type: 7 }, {}),
  contents(resource("file:///etc/passwd", { text: "inside" }), resource("", { blob: PNG, mimeType: "image/png" })),
  contents(resource("javascript:alert(1)", { blob: "SGk=", mimeType: "text/plain" }), resource("../../a\u0000", {})),
  contents(resource(null, { blob: "AA==" }), resource("x".repeat(20_000), { blob: "AA==", mimeType: "a/b" })),
  contents({ type: "resource", resource: "a" }, { type: "resource" }),
  contents({ type: "resource_link", uri: "http://[", name: "\u001b[31mred" }, { type: "resource_link", name: 7 }),
  [answer({ content: [text("a")], structuredContent: { a: [1, { b: null }] } })],
  [answer({ structuredContent: { "\ud800": "\udfff" } })],
  ...[7, "a", null, [1], true].map((structuredContent) => [answer({ content: [], structuredContent })]),
  [answer({ structuredContent: nested(200) })],
  [answer({ content: nested(500) })],
  [answer({ isError: true })],
  [answer({ isError: true, content: [] })],
  [answer({ isError: true, content: [text("\ud800"), image(PNG)] })],
  [answer({ isError: "true", content: "It does not work." })],
  ...[ID, null, "server-error", -1, 1e9, 7.5, {}, [], true].map((id) => error(id)),
  ...[null, 7, { a: 1 }, "\ud800", "x".repeat(100_000), "\u001b[31mred\r\n"].map((message) => error(ID, message)),
  [{ jsonrpc: "2.0", id: ID, error: "It does not work." }],
  [{ jsonrpc: "2.0", id: ID, error: null, result: null }],
  [{ jsonrpc: "2.0", id: ID, method: "roots/list" }, ...contents(text("After a request."))],
  [{ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: ID, progress: "a" } }, answer({})],
  [{ jsonrpc: "2.0", method: "notifications/message", params: { level: 7, data: "\ud800" } }, answer({})],
  [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }, ...contents(text("Changed."))],
  [{ jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params: { messages: 7 } }, answer({})],
  raw(`{"content":[{"type":"text","text":"a"}],"content":[{"type":"text","text":"b"}]}`),
  raw(`{"content":[{"type":"text","text":NaN}]}`),
  raw(`{"structuredContent":{"a":1e999}}`),
  raw(`{"content":[{"type":"text","text":"\\ud83d"}]}`),
  [`\ufeff${JSON.stringify(answer({ content: [text("After a mark.")] }))}`],
  [`{"jsonrpc":"2.0","id":"${ID}".0,"result":{}}`],
  ["This is no message."],
];
