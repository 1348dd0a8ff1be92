import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import path from "node:path";

/** Begins a command whose processes hold the pipe `alive` open as descriptor 3. */
export const HOLD = "exec 3>alive; ";

/** Less than a command has to end in at its time limit: three seconds. Where somebody waits for its end it has half a second. */
export const UNHURRIED_MS = 2_900;

/** What becomes of the processes of a command that begins with `HOLD`. */
export class Alive {
  readonly #file;

  /** Makes the pipe. The command runs in this directory, and later. */
  constructor(directory: string, name = "alive") {
    const pipe = path.join(directory, name);
    execFileSync("mkfifo", [pipe]);
    // Opens when the command does.
    this.#file = open(pipe);
  }

  /** Waits until the command has written so many lines to descriptor 3, one byte each. */
  async said(lines: number) {
    const file = await this.#file;
    const buffer = Buffer.alloc(2 * lines);
    for (let length = 0; length < buffer.length;) {
      const { bytesRead } = await file.read(buffer, length);
      if (bytesRead === 0) throw new Error(`the command ended after ${length / 2} of ${lines} lines`);
      length += bytesRead;
    }
  }

  /** Waits until none of the processes is left. */
  async ended() {
    const file = await this.#file;
    await file.readFile();
    await file.close();
  }
}
