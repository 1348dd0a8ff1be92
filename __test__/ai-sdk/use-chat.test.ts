// The example server with the chat of the AI SDK, which `useChat` wraps: a reload continues the answer.

import { spawn } from "node:child_process";
import { request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import type { OpenCodeUIMessage } from "../../dist/ai-sdk/index";
import { setUp } from "../embedded/support";
import { createRandom, pick } from "../random";
import type { Setup } from "../embedded/support";

interface Chat {
  readonly messages: OpenCodeUIMessage[];
  readonly status: string;
  readonly error: unknown;
  sendMessage(message: { text: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
}

// The compiler refuses the declarations of this package.
const { AbstractChat, DefaultChatTransport } = require("ai") as {
  AbstractChat: new (init: object) => Chat;
  DefaultChatTransport: new (options: { api: string }) => object;
};

/** The state that React holds for `useChat`. */
class PageState {
  status = "ready";
  error = undefined;
  messages: OpenCodeUIMessage[];
  readonly changed: () => void;

  constructor(messages: OpenCodeUIMessage[], changed: () => void) {
    this.messages = messages;
    this.changed = changed;
  }

  pushMessage = (message: OpenCodeUIMessage) => {
    this.messages = [...this.messages, message];
    this.changed();
  };

  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: OpenCodeUIMessage) => {
    this.messages = this.messages.with(index, message);
    this.changed();
  };

  snapshot = <T>(value: T) => structuredClone(value);
}

/** A page with a chat. */
function openPage(api: string, id: string, messages: OpenCodeUIMessage[] = []) {
  const watchers = new Set<() => void>();
  const state = new PageState(messages, () => watchers.forEach((watch) => watch()));
  const chat = new (class extends AbstractChat {
    constructor() {
      super({ id, state, transport: new DefaultChatTransport({ api }) });
    }
  })();
  /** Resolves when the page shows a text. */
  const shows = (text: string) =>
    new Promise<void>((resolve) => {
      const watch = () => {
        if (JSON.stringify(state.messages).includes(text)) resolve();
      };
      watchers.add(watch);
      watch();
    });
  return { chat, shows };
}

const running: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((stop) => stop()));
});

async function startServer(setup: Setup) {
  const example = path.resolve(__dirname, "../../examples/use-chat.mjs");
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [example], {
    cwd: setup.directory,
    env: { PATH, HOME: setup.root, PORT: "0", OPENAI_BASE_URL: setup.model.url, OPENAI_API_KEY: "secret" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  running.push(() => (child.kill("SIGKILL"), closed));
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("The example has ended");
}

const fetchJson = async (url: string, method = "GET") => (await fetch(url, { method })).json();

/** Sends a request with any path, which `fetch` would normalise or refuse. Returns the status. */
const send = (origin: URL, sent: { method: string; path: string; body: string }) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = origin;
    const { body, ...head } = sent;
    const sending = request({ hostname, port, ...head, insecureHTTPParser: true }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    sending.once("error", reject).end(body);
  });

const textOf = (message: OpenCodeUIMessage | undefined) =>
  message?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

test("a page that is reloaded in the middle of an answer shows it to its end", async () => {
  const setup = await setUp();
  setup.model.reply({ deltas: ["one ", "two ", "three"], gate: "middle" }, { text: "four" });
  const api = await startServer(setup);
  const { id } = await fetchJson(api, "PUT");

  const before = openPage(api, id);
  const sent = before.chat.sendMessage({ text: "Count" });
  await setup.model.reached("middle");
  await before.shows("one two");
  await before.chat.stop();
  await sent;

  const stored: OpenCodeUIMessage[] = await fetchJson(`${api}/${id}`);
  expect(stored.map(({ role }) => role)).toEqual(["user"]);
  const after = openPage(api, id, stored);
  const resumed = after.chat.resumeStream();
  setup.model.release("middle");
  await resumed;
  expect(after.chat.status).toBe("ready");
  expect(after.chat.messages.map(textOf)).toEqual(["Count", "one two three"]);

  await after.chat.sendMessage({ text: "More" });
  expect(after.chat.messages.map(textOf)).toEqual(["Count", "one two three", "More", "four"]);
  const later = openPage(api, id, await fetchJson(`${api}/${id}`));
  await later.chat.resumeStream();
  expect(later.chat.messages.map(textOf)).toEqual(["Count", "one two three", "More", "four"]);
  expect(setup.model.requests).toHaveLength(2);
});

test("a page without a prompt has nothing to resume", async () => {
  const setup = await setUp();
  const api = await startServer(setup);
  const { id } = await fetchJson(api, "PUT");
  const { chat } = openPage(api, id);
  await chat.resumeStream();
  expect(chat.messages).toEqual([]);
  expect(chat.error).toBeUndefined();
});

test("no request ends the server", async () => {
  const setup = await setUp();
  const api = await startServer(setup);
  const { id } = await fetchJson(api, "PUT");
  const origin = new URL(api);
  const random = createRandom(37);
  const paths = [
    "",
    "/",
    "//",
    "/chat",
    "/chat/",
    `/chat/${id}`,
    `/chat/${id}/stream`,
    `/chat/${id}/x/y`,
    "/chat/ses_x",
  ];
  paths.push("/chat/ses_x/stream", "/chat/%", "/chat/%00/stream", "/chat/..%2f", `/chat?${id}`, "*", "http://[", "/\\");
  const message = { id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const bodies = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '{"id":1,"messages":[]}',
    `{"id":"${id}"}`,
    `{"id":"${id}","messages":[]}`,
  ];
  bodies.push(
    `{"id":"${id}","messages":[null]}`,
    `{"id":"${id}","messages":[{"id":"a/b","parts":[]}]}`,
    "\u0000".repeat(9),
  );
  bodies.push(
    JSON.stringify({ id: "ses_x", messages: [message] }),
    JSON.stringify({ id, messages: [{ id: 3, parts: 4 }] }),
  );
  const methods = ["GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS", "TRACE"];
  for (let n = 0; n < 400; n += 1) {
    const sent = { method: pick(random, methods), path: pick(random, paths), body: pick(random, bodies) };
    const status = await send(origin, sent);
    // None of these requests begins work, so the host has no failure.
    expect({ sent, isAnswered: status > 0 && status < 500 }).toEqual({ sent, isAnswered: true });
  }
  expect(await fetchJson(`${api}/${id}`)).toEqual([]);
  expect(setup.model.requests).toHaveLength(0);
});
