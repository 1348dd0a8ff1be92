// Starting other programs. None of them goes through a shell.

import { spawn } from "node:child_process";
import { root } from "./project.mjs";
import { formatDuration } from "./terminal.mjs";

/** Where a line that is shown is looked for. */
const MOST_OF_LINE = 1000;

/** A program that could not be started at all. */
export class NotStarted extends Error {}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] Default: the project.
 * @property {NodeJS.ProcessEnv} [env] Default: ours.
 * @property {(line: string) => void} [onLine] Hears the last whole line when something was printed.
 * @property {number} [timeoutMs] When to end it by force. Default: never.
 */

/**
 * Runs a program to its end and gives what it printed. It reads nothing.
 *
 * @param {readonly string[]} command The program and its arguments.
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, stdout: string, output: string }>} `output` has both streams as they came.
 */
export function run([program, ...args], { cwd = root, env = process.env, onLine = () => {}, timeoutMs = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let output = "";
    const read = (/** @type {string} */ text) => {
      output += text;
      // Pieces end anywhere, so the last line may not be whole yet.
      const line = output.slice(-MOST_OF_LINE).split("\n").at(-2)?.trim();
      if (line) onLine(line);
    };
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      read(text);
    });
    child.stderr.setEncoding("utf8").on("data", read);
    child.on("error", (error) => reject(new NotStarted(`${program} could not be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (signal !== null) output += `\n${signal} ended it after ${formatDuration(performance.now() - began)}\n`;
      resolve({ code: code ?? 1, stdout, output });
    });
  });
}

/**
 * Runs a program in the foreground: it has the terminal. Gives its exit code.
 *
 * @param {readonly string[]} command
 * @returns {Promise<number>}
 */
export function runInForeground([program, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: "inherit" });
    child.on("error", (error) => reject(new NotStarted(`${program} could not be started: ${error.message}`)));
    child.on("close", (code) => resolve(code ?? 1));
  });
}
