import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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

/**
 * The ids of this process's children, including those that have ended and were not waited for. The system lists them
 * per thread, and gives the children of a thread that ends to another thread: the list is read again if that happened.
 */
export function readChildren(): string[] {
  if (process.platform !== "linux") return [];
  const files = readdirSync("/proc/self/task").map((thread) => `/proc/self/task/${thread}/children`);
  const lists = files.map(readIfPresent);
  if (lists.includes(undefined)) return readChildren();
  return lists.join("").split(" ").filter(Boolean);
}

/** The content of a file of `/proc`, or `undefined` if its process, thread or descriptor has ended. */
export function readIfPresent(file: string) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    // A thread that ends while its file is read is `ESRCH`.
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}

/** A process that has ended may stay a zombie, because the process that inherits it need not wait for it. */
export function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  const status = readIfPresent(`/proc/${pid}/status`);
  return status !== undefined && !/^State:\s*[ZX]/m.test(status);
}

/** Resolves when none of these processes is alive. */
export async function ended(pids: number[]) {
  while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 10));
}
