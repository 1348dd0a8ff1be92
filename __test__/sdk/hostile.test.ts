import type { OpenCodeHost } from "../../index.js";
import { readHistory, run, setUp } from "../embedded/support";
import { transports, type Transport } from "./support";

const MIB = 1024 * 1024;

/** A hostile request, with a unique name. */
interface Attack {
  readonly name: string;
  readonly path: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
  /** Status and tag. */
  readonly answer: string;
}

const malformed = "400 InvalidRequestError Payload";
const badQuery = "400 InvalidRequestError Query";
const badCursor = "400 InvalidCursorError";
const badSession = "400 InvalidRequestError sessionID";
const noSession = "404 SessionNotFoundError";
const nothing = "404";

const prompt = "/api/session/{session}/prompt";
const messages = "/api/session/{session}/message";
const deep = (open: string, close: string) => open.repeat(10_000) + close.repeat(10_000);
const forge = (content: string) => Buffer.from(content).toString("base64url");

const bodies: Attack[] = [
  ["a leading surrogate alone", '{"prompt":{"text":"a\\ud800"},"resume":false}'],
  ["a trailing surrogate alone", '{"prompt":{"text":"\\udc00a"},"resume":false}'],
  ["a leading surrogate in a name", '{"\\ud800":1,"prompt":{"text":"a"},"resume":false}'],
  ["lists in lists", deep("[", "]")],
  ["objects in objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ["nested lists in an unknown member", `{"prompt":{"text":"a"},"resume":false,"more":${deep("[", "]")}}`],
  ["a prototype instead of members", '{"__proto__":{"prompt":{"text":"a"},"resume":false}}'],
  ["a prototype in a member", '{"prompt":{"__proto__":{"text":"a"}},"constructor":{"prototype":{"text":"a"}}}'],
  ["a text without an end", `{"prompt":{"text":"${"a".repeat(MIB)}`],
  ["a number without end", `{"prompt":${"9".repeat(MIB)}}`],
  ["an exponent without end", `{"prompt":{"text":"a"},"resume":1e${"9".repeat(MIB)}}`],
  ["many members with one name", `{${'"prompt":{"text":"a"},'.repeat(50_000)}"resume":"no"}`],
  ["UTF-16", Buffer.from('{"prompt":{"text":"a"}}', "utf16le")],
  ["bytes", Uint8Array.from({ length: MIB }, (_, n) => n % 256)],
].map(([name, body]) => ({ name: `body: ${name}`, path: prompt, body, answer: malformed }) as Attack);

const queries: Attack[] = [
  ["100,000 parameters", `?${"a=1&".repeat(100_000)}limit=x`, badQuery],
  ["100,000 parameters with one name", `?${"limit=1&".repeat(100_000)}`, badQuery],
  ["20,000 parameters", `?${"a&".repeat(20_000)}limit=x`, badQuery],
  ["10,000 parameters with one name", `?${"limit&".repeat(10_000)}`, badQuery],
  ["60,000 digits", `?limit=${"9".repeat(60_000)}`, badQuery],
  ["a megabyte of a number", `?limit=${"9".repeat(MIB)}`, badQuery],
  ["brackets in brackets", `?limit=0&location${"[directory]".repeat(10_000)}=/`, badQuery],
  ["an encoded surrogate", "?order=%ed%a0%80", badQuery],
  ["an overlong encoding of a character", "?order=%c0%af", badQuery],
  ["invalid UTF-8", "?order=%ff%fe%00", badQuery],
  ["a broken escape", "?order=%", badQuery],
  ["line ends", "?order=asc%0d%0aSet-Cookie:%20a=b", badQuery],
  ["a prototype", "?__proto__[limit]=1&constructor=x&limit=0", badQuery],
].map(([name, query, answer]) => ({ name: `query: ${name}`, path: messages + query, answer }) as Attack);

const searches: Attack[] = [
  { name: "search: longer than a title", path: `/api/session?search=${"_".repeat(55_000)}`, answer: badQuery },
  { name: "search: a zero byte", path: "/api/session?search=%00", answer: badQuery },
  { name: "search: wild", path: `/api/session?search=${"%25e%25_".repeat(400)}`, answer: "200" },
];

/** A cursor of messages that continues from a position, with further members. */
const cursor = (anchor: unknown, more: object = {}) => ({
  version: 1,
  kind: "messages",
  page: { scope: "{session}", order: "asc", limit: 3, from: { anchor, direction: "next" }, ...more },
});

const greatest = JSON.stringify(cursor("greatest")).replace('"greatest"', "18446744073709551615");

const contents: [name: string, content: unknown, answer: string][] = [
  ["a place", cursor(1), "200"],
  ["the largest position", greatest, "200"],
  ["the largest position, backwards", greatest.replace("next", "previous").replace("asc", "desc"), "200"],
  ["a larger position than possible", cursor(1e30), badCursor],
  ["a negative position", cursor(-1), badCursor],
  ["a position that is not a number", cursor("1"), badCursor],
  ["no place", cursor(null), badCursor],
  ["no limit", cursor(1, { limit: null }), badCursor],
  ["a limit of billions", cursor(1, { limit: 4_294_967_295 }), badCursor],
  ["another session", cursor(1, { scope: "ses_other" }), badCursor],
  ["a query as its session", cursor(1, { scope: "ses_' OR 1=1 --" }), badCursor],
  ["lists in lists", deep("[", "]"), badCursor],
  ["a list", [], badCursor],
  ["a prototype", '{"__proto__":{"version":1,"kind":"messages"}}', badCursor],
];

/** The content is put in angle brackets until the id of its session is known. */
const cursors: Attack[] = contents.map(([name, content, answer]) => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { name: `cursor: ${name}`, path: `${messages}?cursor=<${text}>`, answer };
});

const longCursors: Attack[] = [
  { name: "cursor: 60,000 letters", path: `${messages}?cursor=${"e".repeat(60_000)}`, answer: badCursor },
  { name: "cursor: a megabyte", path: `${messages}?cursor=${"e".repeat(MIB)}`, answer: badCursor },
  { name: "cursor: a megabyte of spaces", path: `${messages}?cursor=${forge(" ".repeat(MIB))}`, answer: badCursor },
  { name: "cursor: of sessions, a megabyte", path: `/api/session?cursor=${"e".repeat(MIB)}`, answer: badCursor },
];

const paths: Attack[] = [
  ["a parent folder", "/api/session/ses_%2e%2e%2f%2e%2e", noSession],
  ["a parent folder, encoded twice", "/api/session/ses_%252e%252e%252f", noSession],
  ["parent folders in place of a session", "/api/session/%2e%2e%2f%2e%2e%2fetc%2fpasswd", badSession],
  ["a zero byte", "/api/session/ses_%00", noSession],
  ["line ends", "/api/session/ses_%0d%0aSet-Cookie:%20a=b", noSession],
  ["an overlong encoding of a slash", "/api/session/ses_%c0%af", nothing],
  ["an encoded surrogate", "/api/session/ses_%ed%a0%80", nothing],
  ["a query", "/api/session/ses_'%20OR%201=1%20--", noSession],
  ["60,000 letters of a session", `/api/session/ses_${"a".repeat(60_000)}`, badSession],
  ["20,000 segments", `/api${"/a".repeat(20_000)}`, nothing],
  ["a megabyte of a session", `/api/session/ses_${"a".repeat(MIB)}`, badSession],
  ["a megabyte of escapes", `/api/session/ses_${"%61".repeat(MIB / 4)}`, badSession],
  ["a megabyte of slashes", `/api/session${"/".repeat(MIB)}ses_none`, noSession],
  ["100,000 segments", `/api${"/a".repeat(100_000)}`, nothing],
].map(([name, path, answer]) => ({ name: `path: ${name}`, path, answer }) as Attack);

const directory = (value: string) => ({ "x-opencode-directory": value });
const badDirectory = "400 InvalidRequestError location.directory";
const headed: Attack[] = [
  ["line ends in a directory", directory("/a%0d%0aSet-Cookie:%20a=b"), badDirectory],
  ["a zero byte in a directory", directory("/a%00"), badDirectory],
  ["a directory with parent folders", directory("..%2f..%2fetc"), badDirectory],
  ["a directory that is not valid UTF-8", directory("/%ff%fe"), badDirectory],
  ["a long directory", directory(`/${"a".repeat(10_000)}`), badDirectory],
  ["an invalid workspace", { "x-opencode-workspace": "../x" }, badQuery],
].map(([name, given, answer]) => {
  return { name: `header: ${name}`, path: "/api/location", headers: given, answer } as Attack;
});

const attacks = [...bodies, ...queries, ...searches, ...cursors, ...longCursors, ...paths, ...headed];

/** The server refuses an address of more than 64 KiB. */
const TOO_LONG = 64 * 1024;

async function attack({ url, fetch, ...transport }: Transport, session: string, { path, body, ...given }: Attack) {
  const fill = (text: string) => text.replaceAll("{session}", session);
  const target = fill(path).replace(/<(.*)>/s, (_, content) => forge(content));
  const headers = { ...transport.headers, ...given.headers };
  const init = { method: body === undefined ? "GET" : "POST", headers, ...(body === undefined ? {} : { body }) };
  const request = new Request(url + target, init);
  if (body !== undefined) request.headers.set("content-type", "application/json");
  const response = await fetch(request).catch((error: { reason?: string }) => error);
  if (!(response instanceof Response)) return `refused: ${response.reason}`;
  expect(response.headers.get("set-cookie")).toBeNull();
  const text = await response.text();
  if (response.headers.get("content-type") !== "application/json") return String(response.status);
  // The answer is short for an input of any size.
  expect(text.length).toBeLessThan(4_000);
  const { _tag, kind, field } = JSON.parse(text);
  return [response.status, _tag, kind, field].filter((part) => part !== undefined).join(" ");
}

test.each(transports)("hostile requests are refused and do no harm, %s", async (way, open) => {
  const setup = await setUp();
  const host = await setup.open();
  const { id } = await host.sessions.create();
  const transport = await open(host);
  const answers = [];
  const refused = way === "in memory" ? "refused: Transport" : "431";
  for (const one of attacks) {
    const answer = await attack(transport, id, one);
    // A client that still sends when the connection is closed may not receive the answer.
    const isCut = way !== "in memory" && one.path.length > TOO_LONG && answer === "refused: undefined";
    answers.push([one.name, isCut ? refused : answer]);
  }
  const expected = ({ path, answer }: Attack) => (path.length > TOO_LONG ? refused : answer);
  expect(answers).toEqual(attacks.map((one) => [one.name, expected(one)]));
  await isUnharmed(host, id);
});

/** True if nothing was stored, no prototype was changed, and the host works. */
async function isUnharmed(host: OpenCodeHost, sessionID: string) {
  expect(({} as any).prompt).toBeUndefined();
  await expect(readHistory(host, sessionID)).resolves.toEqual([]);
  await run(host, sessionID, "Hi");
  await expect(readHistory(host, sessionID)).resolves.toHaveLength(6);
}
