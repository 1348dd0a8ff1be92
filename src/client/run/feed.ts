import { Activity } from "./activity.js";
import { keyOf } from "./blocks.js";
import { deferred } from "./deferred.js";
import type { SessionDurableEvent, ToolContent } from "../index.js";
import type { Feed } from "../internal.js";
import type { Begun, Run } from "./run.js";
import type { RunPart } from "./types.js";

// Failed connections in a row, about four seconds.
const RETRIES_AFTER_END = 4;

/** Position of a reader in a block, in pieces and in characters. */
type Position = { pieces: number; length: number };

/**
 * The parts of one iteration of a run. It reads an event from the log when the caller requests one, so a slow caller
 * loses nothing and stores nothing. Pieces of text come from the live stream. The end of a block brings its missing
 * text.
 */
export class RunFeed implements Feed<RunPart> {
  #run;
  #parts: RunPart[] = [];
  #activity;
  #events;
  #isReading = false;
  /** True if the log cannot be read any longer. */
  #isCut = false;
  #isOver = false;
  /** Open blocks in the order of their beginning. */
  #blocks: Map<string, Position> = new Map();
  /** Names of tools by call. */
  #tools: Map<string, string> = new Map();
  #asked: Set<string> = new Set();
  #changed = deferred();
  #notify = () => this.#changed.resolve(undefined);

  constructor(run: Run, begun: Begun) {
    this.#run = run;
    this.#activity = new Activity(begun.messageID, begun.admittedSeq);
    this.#events = run.events(begun, (retry) => this.#giveUpAfter(retry))[Symbol.asyncIterator]();
    run.watch(this.#notify);
  }

  take() {
    return this.#parts.shift();
  }

  async more() {
    while (this.#parts.length === 0 && !this.#isOver) {
      this.#changed = deferred();
      this.#collect();
      if (this.#parts.length > 0) break;
      if (!this.#isReading && !this.#isCut) void this.#read();
      await this.#changed.promise;
    }
    return this.#parts.length > 0;
  }

  cancel() {
    this.#isOver = true;
    this.#run.unwatch(this.#notify);
    this.#events.return?.().catch(() => {});
    this.#notify();
  }

  /** The result of an ended run is complete, so the caller does not wait minutes for a server that is gone. */
  #giveUpAfter(retry: number) {
    if (this.#run.ended === undefined || retry <= RETRIES_AFTER_END) return;
    this.#isCut = true;
    this.#notify();
  }

  async #read() {
    this.#isReading = true;
    try {
      const { value, done } = await this.#events.next();
      if (done) this.#isCut = true;
      else this.#take(value);
    } catch {
      // The run itself has the same failure and reports it.
      this.#isCut = true;
    }
    this.#isReading = false;
    this.#notify();
  }

  /** Collects the parts that need no further event of the log. */
  #collect() {
    for (const part of this.#run.requests.parts) {
      if (this.#asked.has(part.request.id)) continue;
      this.#asked.add(part.request.id);
      this.#parts.push(part);
    }
    for (const [key, position] of this.#blocks) this.#stream(key, position);
    const { ended } = this.#run;
    if (ended === undefined || this.#parts.length > 0) return;
    const mayFollow = this.#activity.seq < ended.seq && !this.#isCut && !this.#run.isDisposed;
    if (mayFollow) return;
    this.#parts.push({ type: "end", result: ended.result });
    this.cancel();
  }

  #stream(key: string, position: Position) {
    const pieces = this.#run.blocks.from(key, position.pieces);
    if (pieces.length === 0) return;
    const text = pieces.join("");
    position.pieces += pieces.length;
    position.length += text.length;
    this.#say(key, text);
  }

  #say(key: string, text: string) {
    const [messageID = "", type, ...id] = key.split(" ");
    const blockID = id.join(" ");
    if (text === "") return;
    if (type === "text") this.#parts.push({ type: "text", text, messageID, textID: blockID });
    else this.#parts.push({ type: "reasoning", text, messageID, reasoningID: blockID });
  }

  #take(event: SessionDurableEvent) {
    if (!this.#activity.apply(event)) return;
    this.#derive(event);
    this.#parts.push({ type: "event", event });
  }

  #derive(event: SessionDurableEvent) {
    switch (event.type) {
      case "session.next.text.started":
      case "session.next.reasoning.started":
        this.#blocks.set(keyOf(event.data), { pieces: 0, length: 0 });
        break;
      case "session.next.text.ended":
      case "session.next.reasoning.ended": {
        const key = keyOf(event.data);
        this.#say(key, event.data.text.slice(this.#blocks.get(key)?.length ?? 0));
        this.#blocks.delete(key);
        break;
      }
      case "session.next.tool.input.started":
        this.#tools.set(event.data.callID, event.data.name);
        this.#parts.push({ ...this.#tool(event.data), status: "pending" });
        break;
      case "session.next.tool.called":
        this.#tools.set(event.data.callID, event.data.tool);
        this.#parts.push({ ...this.#tool(event.data), status: "running", input: event.data.input });
        break;
      case "session.next.tool.success":
        this.#parts.push({ ...this.#tool(event.data), status: "completed", ...outputOf(event.data) });
        break;
      case "session.next.tool.failed":
        this.#parts.push({ ...this.#tool(event.data), status: "failed", error: event.data.error });
        break;
      default:
    }
  }

  #tool({ assistantMessageID: messageID, callID }: { assistantMessageID: string; callID: string }) {
    return { type: "tool" as const, messageID, callID, tool: this.#tools.get(callID) ?? "" };
  }
}

function outputOf({ structured, content }: { structured: Record<string, unknown>; content: readonly ToolContent[] }) {
  const texts = content.flatMap((piece) => (piece.type === "text" ? [piece.text] : []));
  // Without content the model reads the structured value.
  return { output: content.length === 0 ? JSON.stringify(structured) : texts.join("\n"), structured };
}
