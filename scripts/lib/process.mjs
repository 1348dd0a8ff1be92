// Starts other programs, always without a shell.

import { spawn } from "node:child_process";
import { root } from "./project.mjs";
import { formatDuration } from "./terminal.mjs";

/** A program that could not be started at all. */
export class NotStarted extends Error {}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] Default: the project.
 * @property {NodeJS.ProcessEnv} [env] Default: the environment of this process.
 * @property {(line: string) => void} [onLine] Called with each complete line of both streams that is not empty.
 * @property {(line: string) => void} [onStdoutLine] Called with lines of standard output instead of `onLine`.
 * @property {number} [timeoutMs] The time after which the program is killed. Default: never.
 */

/**
 * Runs a program to its end and returns its output. Its standard input is empty.
 *
 * @param {readonly string[]} command The program and its arguments.
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, stdout: string, stderr: string, output: string }>} `output` has both streams in the
 *   order of arrival.
 */
export function run([program, ...args], options = {}) {
  const { cwd = root, env = process.env, onLine = () => {}, onStdoutLine = onLine, timeoutMs = 0 } = options;
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
    let stderr = "";
    let output = "";
    const readStdout = splitLines(onStdoutLine);
    const readStderr = splitLines(onLine);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
      readStdout(text);
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
      output += text;
      readStderr(text);
    });
    child.on("error", (error) => reject(new NotStarted(`${program} could not be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (signal !== null) output += `\n${signal} ended it after ${formatDuration(performance.now() - began)}\n`;
      resolve({ code: code ?? 1, stdout, stderr, output });
    });
  });
}

/**
 * Collects pieces of any length, and passes on each complete line.
 *
 * @param {(line: string) => void} onLine
 */
function splitLines(onLine) {
  let rest = "";
  return (/** @type {string} */ text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line.trim());
  };
}

/**
 * Runs a program in the foreground with access to the terminal. Returns its exit code.
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
