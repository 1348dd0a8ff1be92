import type { OpenCodeEvent } from "../index.js";

/**
 * The pieces of text and reasoning that have arrived of blocks that are not complete yet. Readers keep their own
 * positions, so each piece is held once, until its block is complete and the log has it.
 */
export class OpenBlocks {
  #pieces: Map<string, string[]> = new Map();

  /** Takes an event of the live stream. Returns whether there is a new piece. */
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
        // Without its beginning a piece has no known place in its block.
        const pieces = this.#pieces.get(keyOf(event.data));
        pieces?.push(event.data.delta);
        return pieces !== undefined;
      }
      default:
        return false;
    }
  }

  /** The pieces of a block from a position on. */
  from(key: string, position: number) {
    return this.#pieces.get(key)?.slice(position) ?? [];
  }

  /** Forgets everything: pieces may be missing. */
  clear() {
    this.#pieces.clear();
  }
}

export function keyOf(block: { assistantMessageID: string } & ({ textID: string } | { reasoningID: string })) {
  const id = "textID" in block ? `text ${block.textID}` : `reasoning ${block.reasoningID}`;
  return `${block.assistantMessageID} ${id}`;
}
