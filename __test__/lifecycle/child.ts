import { spawn } from "node:child_process";
import path from "node:path";

// In milliseconds. Only a program that hangs runs longer.
const DEADLINE = 110_000;

interface Line {
  readonly line: string;
  readonly [detail: string]: any;
}

/** Runs a program of this folder in a child process. */
export class Child {
  readonly lines: Line[] = [];
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #process;
  readonly #watchers = new Set<() => void>();
  #ended = false;
  #errors = "";

  /** `prefix` is a command that runs the command after it. */
  constructor(program: string, input: object, prefix: readonly string[] = []) {
    const file = path.join(__dirname, "programs", `${program}.js`);
    const [command = "", ...rest] = [...prefix, process.execPath, file, JSON.stringify(input)];
    this.#process = spawn(command, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: DEADLINE,
      killSignal: "SIGABRT",
    });
    this.#process.stderr.on("data", (data) => (this.#errors += data));
    // A line without an end is incomplete because the program was killed.
    let incomplete = "";
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      const whole = (incomplete + text).split("\n");
      incomplete = whole.pop() ?? "";
      this.lines.push(...whole.map((line) => JSON.parse(line)));
      this.#notify();
    });
    this.exited = new Promise((resolve, reject) => {
      this.#process.on("error", reject);
      this.#process.on("close", (code, signal) => {
        this.#ended = true;
        this.#notify();
        resolve((code ?? signal)!);
      });
    });
  }

  get isRunning() {
    return !this.#ended && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get errors() {
    return this.#errors;
  }

  /** Waits for the first line of this kind that satisfies the predicate. */
  async printed(line: string, fits: (candidate: Line) => boolean = () => true): Promise<Line> {
    for (;;) {
      const found = this.lines.find((candidate) => candidate.line === line && fits(candidate));
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`The program ended without printing "${line}": ${this.#errors}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  kill(signal: NodeJS.Signals) {
    this.#process.kill(signal);
  }

  #notify() {
    for (const watcher of this.#watchers) watcher();
    this.#watchers.clear();
  }
}
