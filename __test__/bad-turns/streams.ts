// Recorded answers of models, as events that can be changed and sent again.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { event as bedrockEvent } from "../../testkit/bedrock.js";

/** An event of a stream: a JSON value, or a text that is sent as it is. */
export type Frame = unknown;

/** The form of events in one protocol. */
export interface Protocol {
  /** The package that selects the protocol. */
  readonly npm: string;
  readonly answers: readonly Frame[][];
  /** The bytes of a stream. */
  write(frames: readonly Frame[]): Buffer;
}

const TESTS = path.join(__dirname, "../../crates/protocols/tests");

/** The answers of a folder of the corpus of quirks. */
function readQuirks(folder: string): Frame[][] {
  const directory = path.join(TESTS, "wild", folder);
  return readdirSync(directory).map((name) => {
    const { frames } = JSON.parse(readFileSync(path.join(directory, name), "utf8")) as { frames: Frame[] };
    return frames;
  });
}

/** The answers that were recorded with the official libraries. */
function readRecorded(folder: string): Frame[][] {
  const directory = path.join(TESTS, "sdk_streams/data", folder);
  return readdirSync(directory).map((name) => parseStream(readFileSync(path.join(directory, name), "utf8")));
}

function parseStream(text: string): Frame[] {
  const events = text.split(/\r?\n\r?\n/).filter((event) => event.trim() !== "");
  return events.map((event) => {
    const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
    try {
      return JSON.parse(data.join("\n"));
    } catch {
      return `${event}\n\n`;
    }
  });
}

/** Events with a name, which Anthropic and OpenAI Responses repeat in the data. */
function writeNamed(frame: Frame): string {
  if (typeof frame === "string") return frame;
  const type = (frame as { type?: unknown } | null)?.type;
  const name = typeof type === "string" ? `event: ${type.replaceAll(/[\r\n]/g, "")}\n` : "";
  return `${name}data: ${JSON.stringify(frame)}\n\n`;
}

function writePlain(frame: Frame): string {
  return typeof frame === "string" ? frame : `data: ${JSON.stringify(frame)}\n\n`;
}

function writeBedrock(frame: Frame): string {
  if (typeof frame === "string") return frame;
  const [[name, payload] = ["unknown", {}]] = Object.entries((frame ?? {}) as Record<string, object>);
  return bedrockEvent(name.slice(0, 100), payload);
}

const toBytes = (write: (frame: Frame) => string, encoding: BufferEncoding) => (frames: readonly Frame[]) =>
  Buffer.from(frames.map(write).join(""), encoding);

export const PROTOCOLS: Record<string, Protocol> = {
  "openai-chat": {
    npm: "@ai-sdk/openai-compatible",
    answers: [...readRecorded("openai-chat"), ...readQuirks("openai-chat")],
    write: toBytes(writePlain, "utf8"),
  },
  "openai-responses": {
    npm: "@ai-sdk/openai",
    answers: [...readRecorded("openai-responses"), ...readQuirks("openai-responses")],
    write: toBytes(writeNamed, "utf8"),
  },
  anthropic: {
    npm: "@ai-sdk/anthropic",
    answers: [...readRecorded("anthropic"), ...readQuirks("anthropic-messages")],
    write: toBytes(writeNamed, "utf8"),
  },
  gemini: {
    npm: "@ai-sdk/google",
    answers: [...readRecorded("google"), ...readQuirks("gemini")],
    write: toBytes(writePlain, "utf8"),
  },
  bedrock: {
    npm: "@ai-sdk/amazon-bedrock",
    answers: readQuirks("bedrock-converse"),
    write: toBytes(writeBedrock, "latin1"),
  },
};

/** The answers of models of the program. */
export const PROGRAM_ANSWERS: readonly Frame[][] = readQuirks("program");
