import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { OpenCode } from "../../index.js";
import type {
  AssistantPart,
  OpenCodeClient,
  OpenCodeEvent,
  OpenCodeHost,
  OpenCodeOptions,
  PromptInput,
  SessionDurableEvent,
  SessionMessage,
  SessionsPromptInput,
} from "../../index.js";
import { findDifferences } from "./bodies";
import { startModel, UNSCRIPTED } from "../../testkit/model.js";

export { UNSCRIPTED };

// No test needs this long. A busy machine may.
jest.setTimeout(120_000);

export type Model = Awaited<ReturnType<typeof startModel>>;

/** A scripted model, and a project folder for the hosts that use it. */
export class Setup {
  readonly model: Model;
  readonly root: string;
  readonly directory: string;
  /** True if the test configures members of bodies that no provider knows. */
  sendsOddBodies = false;
  readonly #hosts: OpenCodeHost[] = [];

  constructor(model: Model) {
    this.model = model;
    // The real path, because hosts report real paths.
    this.root = realpathSync(mkdtempSync(path.join(tmpdir(), "opencode-test-")));
    this.directory = path.join(this.root, "project");
    mkdirSync(this.directory);
  }

  /** The database of hosts that `open()` opens. */
  get database() {
    return path.join(this.root, "opencode.db");
  }

  /** The options of hosts that `open()` opens. They use nothing of the machine, and print no warnings. */
  options(more: OpenCodeOptions = {}): OpenCodeOptions {
    const { directory, database, root: home } = this;
    return { directory, database, home, env: {}, config: this.model.config(), log: "off", ...more };
  }

  /** Opens a host, which is closed after the test. */
  async open(options?: OpenCodeOptions) {
    const host = await OpenCode.create(this.options(options));
    this.#hosts.push(host);
    return host;
  }

  /** Writes a file of the project, with the folders that it needs. */
  write(name: string, content: string | Uint8Array) {
    const file = path.join(this.directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** Closes the hosts. */
  async close() {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }

  async dispose() {
    await this.close();
    await this.model.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

const setups: Setup[] = [];

afterEach(async () => {
  const used = setups.splice(0);
  await Promise.all(used.map((setup) => setup.dispose()));
  // No test may send a request that a provider would refuse.
  expect(used.flatMap(({ model }) => model.violations)).toEqual([]);
  const requests = used.flatMap((setup) => (setup.sendsOddBodies ? [] : setup.model.requests));
  expect(requests.flatMap(({ path: address, body }) => findDifferences(address, body))).toEqual([]);
});

/** A setup of the running test, deleted after it. */
export async function setUp() {
  const setup = new Setup(await startModel());
  setups.push(setup);
  return setup;
}

/** A setup with an open host and a session in it. */
export async function setUpSession(options?: OpenCodeOptions) {
  const setup = await setUp();
  const host = await setup.open(options);
  const session = await host.sessions.create();
  return { setup, model: setup.model, host, session, sessionID: session.id };
}

/** Prompts, and waits until the session is idle. */
export async function run(host: OpenCodeClient, sessionID: string, text: string, more?: Partial<SessionsPromptInput>) {
  const receipt = await host.sessions.prompt({ sessionID, prompt: { text }, ...more });
  await host.sessions.wait({ sessionID });
  return receipt;
}

/** All durable events so far. */
export async function readHistory(host: OpenCodeClient, sessionID: string) {
  const events: SessionDurableEvent[] = [];
  for (;;) {
    const page = await host.sessions.history({ sessionID, after: events.at(-1)?.durable.seq, limit: 100 });
    events.push(...page.data);
    if (!page.hasMore) return events;
  }
}

/** All messages, oldest first. */
export async function readMessages(host: OpenCodeClient, sessionID: string) {
  const messages: SessionMessage[] = [];
  let page = await host.sessions.messages({ sessionID, order: "asc" });
  while (page.next !== undefined) {
    messages.push(...page.items);
    page = await host.sessions.messages({ sessionID, cursor: page.next });
  }
  return messages;
}

/** The messages, one line each: `user: Hi`, `assistant: Hello`. */
export async function readTranscript(host: OpenCodeClient, sessionID: string) {
  return (await readMessages(host, sessionID)).map((message) => `${message.type}: ${textOf(message)}`);
}

function textOf(message: SessionMessage) {
  if (message.type === "user") return message.text;
  if (message.type !== "assistant") return "";
  return message.content.map(partText).join("");
}

function partText(part: AssistantPart) {
  return part.type === "tool" ? `[${part.name} ${part.state.status}]` : part.text;
}

/** The types of events without their common prefix. */
export function types(events: readonly { type: string }[]) {
  return events.map(({ type }) => type.replace("session.next.", ""));
}

/** Reads up to and including the first event of a type. */
export async function readUntil<Event extends { type: string }>(events: AsyncIterator<Event>, type: Event["type"]) {
  const read: Event[] = [];
  while (read.at(-1)?.type !== type) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The stream ended before ${type}, after ${types(read).join(", ")}`);
    read.push(value);
  }
  return read;
}

/** A live subscription that receives all events from now on. */
export async function subscribe(host: OpenCodeClient): Promise<AsyncIterator<OpenCodeEvent>> {
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await readUntil(live, "server.connected");
  return live;
}

/** A prompt with a unique text. */
export function numbered(number: number): PromptInput {
  return { text: `Prompt ${number}` };
}
