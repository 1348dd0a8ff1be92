import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import path from "node:path";

/** Start of a command whose processes keep the pipe `alive` open as descriptor 3. */
export const HOLD = "exec 3>alive; ";

/**
 * Shorter than the time a command has to end after its time limit: three seconds. It has half a second if a caller
 * waits for its end.
 */
export const LIMIT_WITHOUT_GRACE_MS = 2_900;

/** Observes the processes of a command that begins with `HOLD`. */
export class Alive {
  readonly #file;

  /** Creates the pipe in the directory in which the command runs. Must be called before the command starts. */
  constructor(directory: string, name = "alive") {
    const pipe = path.join(directory, name);
    execFileSync("mkfifo", [pipe]);
    // Resolves when the command opens its end.
    this.#file = open(pipe);
  }

  /** Waits until the command has written this number of lines to descriptor 3, one byte each. */
  async wrote(lines: number) {
    const file = await this.#file;
    const buffer = Buffer.alloc(2 * lines);
    for (let length = 0; length < buffer.length;) {
      const { bytesRead } = await file.read(buffer, length);
      if (bytesRead === 0) throw new Error(`the command ended after ${length / 2} of ${lines} lines`);
      length += bytesRead;
    }
  }

  /** Waits until all of the processes have ended. */
  async ended() {
    const file = await this.#file;
    await file.readFile();
    await file.close();
  }
}
