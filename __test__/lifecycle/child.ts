import { spawn } from "node:child_process";
import path from "node:path";

// No program takes longer unless it hangs.
const DEADLINE = 110_000;

interface Line {
  readonly line: string;
  readonly [detail: string]: any;
}

/** A program of this folder in a process of its own. */
export class Child {
  readonly lines: Line[] = [];
  /** How it ended: its code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #process;
  readonly #watchers = new Set<() => void>();
  #ended = false;
  #errors = "";

  /** `prefix` is a command that runs the one behind it. */
  constructor(program: string, input: object, prefix: readonly string[] = []) {
    const file = path.join(__dirname, "programs", `${program}.js`);
    const [command = "", ...rest] = [...prefix, process.execPath, file, JSON.stringify(input)];
    this.#process = spawn(command, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: DEADLINE,
      killSignal: "SIGABRT",
    });
    this.#process.stderr.on("data", (data) => (this.#errors += data));
    // A line without an end was cut by what killed the program.
    let begun = "";
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      const whole = (begun + text).split("\n");
      begun = whole.pop() ?? "";
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

  /** The first line of this kind that fits. */
  async said(line: string, fits: (said: Line) => boolean = () => true): Promise<Line> {
    for (;;) {
      const said = this.lines.find((candidate) => candidate.line === line && fits(candidate));
      if (said !== undefined) return said;
      if (this.#ended) throw new Error(`The program ended without saying "${line}": ${this.#errors}`);
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
