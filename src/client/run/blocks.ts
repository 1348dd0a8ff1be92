import type { OpenCodeEvent } from "../index.js";

/**
 * Pieces of incomplete blocks of text and reasoning. Each reader has its own position, so a piece is stored once,
 * until its block is complete and in the log.
 */
export class OpenBlocks {
  #pieces: Map<string, string[]> = new Map();

  /** Applies an event of the live stream. Returns true if there is a new piece. */
  apply(event: OpenCodeEvent) {
    switch (event.type) {
      case "session.next.text.started":
      case "session.next.reasoning.started":
        this.#pieces.set(keyOf(event.data), []);
        return false;
      case "session.next.text.ended":
      case "session.next.reasoning.ended":
        this.#pieces.delete(keyOf(event.data));
        return false;
      case "session.next.text.delta":
      case "session.next.reasoning.delta": {
        // The position of a piece is unknown if the beginning of its block was missed.
        const pieces = this.#pieces.get(keyOf(event.data));
        pieces?.push(event.data.delta);
        return pieces !== undefined;
      }
      default:
        return false;
    }
  }

  /** Returns the pieces of a block from a position on. */
  from(key: string, position: number) {
    return this.#pieces.get(key)?.slice(position) ?? [];
  }

  /** Removes everything, because pieces may be missing. */
  clear() {
    this.#pieces.clear();
  }
}

export function keyOf(block: { assistantMessageID: string } & ({ textID: string } | { reasoningID: string })) {
  const id = "textID" in block ? `text ${block.textID}` : `reasoning ${block.reasoningID}`;
  return `${block.assistantMessageID} ${id}`;
}
