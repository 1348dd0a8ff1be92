import { WebSocket, type RawData } from "ws";
import type { OpenCodeClient, OpenCodeOptions, PtysCreateInput } from "../../index.js";
import { setUp } from "./support";

/** The input for a terminal in which sh runs this text. */
export const script = (text: string): PtysCreateInput => ({ command: "/bin/sh", args: ["-c", text] });

/** A host that listens, for tests of terminals. It has no password unless one is given. */
export async function setUpTerminals(options?: OpenCodeOptions, password: string | false = false) {
  const setup = await setUp();
  const env = { PATH: process.env["PATH"] };
  const host = await setup.open({ env, ...options });
  const listener = await host.listen({ password });
  return { setup, host, listener, url: listener.url };
}

export type Frame = string | { cursor: number } | { code: number; reason: string } | { status: number };

/** A client that is connected to a terminal. */
export class Screen {
  readonly #socket: WebSocket;
  readonly #frames: Frame[] = [];
  readonly #opened: Promise<void>;
  #wake = () => {};

  constructor(url: string, headers?: Record<string, string>) {
    this.#socket = new WebSocket(url.replace("http:", "ws:"), { headers });
    this.#opened = new Promise((resolve) => this.#socket.once("open", resolve));
    this.#socket.on("message", (data, isBinary) => this.#add(readFrame(data, isBinary)));
    this.#socket.on("close", (code, reason) => this.#add({ code, reason: reason.toString() }));
    this.#socket.on("unexpected-response", (request, { statusCode = 0 }) => {
      this.#add({ status: statusCode });
      request.destroy();
    });
    // The other events report errors.
    this.#socket.on("error", () => {});
  }

  #add(frame: Frame) {
    this.#frames.push(frame);
    this.#wake();
  }

  /** Types text as soon as the connection is open. */
  type(text: string) {
    void this.#opened.then(() => this.#socket.send(text));
  }

  leave() {
    this.#socket.close();
  }

  /** The next frame. */
  async next(): Promise<Frame> {
    while (this.#frames.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#frames.shift()!;
  }

  /** All text up to the first text with this end. */
  async until(end: string) {
    let text = "";
    while (!text.endsWith(end)) {
      const frame = await this.next();
      if (typeof frame === "string") text += frame;
      else if (!("cursor" in frame)) throw new Error(`${JSON.stringify(frame)} after ${JSON.stringify(text)}`);
    }
    return text;
  }

  /** All remaining text, and the reason for the end of the connection. */
  async rest() {
    let text = "";
    for (;;) {
      const frame = await this.next();
      if (typeof frame === "string") text += frame;
      else if (!("cursor" in frame)) return { text, end: frame };
    }
  }
}

/** The output of a program in a terminal after a line was typed. */
export async function readOutput(client: OpenCodeClient, url: string, text: string, more?: PtysCreateInput) {
  const { data } = await client.ptys.create({ ...script(`stty -echo -opost; echo ready; read x; ${text}`), ...more });
  const screen = new Screen(`${url}/api/pty/${data.id}/connect`);
  await screen.until("ready\n");
  screen.type("\n");
  return (await screen.rest()).text;
}

function readFrame(data: RawData, isBinary: boolean): Frame {
  const bytes = data as Buffer;
  if (!isBinary) return bytes.toString();
  expect(bytes[0]).toBe(0);
  return JSON.parse(bytes.subarray(1).toString());
}
