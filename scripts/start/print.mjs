// Prints the parts of a run as lines of a terminal.

import { cyan, dim, formatDuration, green, red } from "../lib/terminal.mjs";

/** Number of lines of a tool's result that are shown. */
const SHOWN_LINES = 6;

export class Printer {
  #began = performance.now();
  #firstTextMs = 0;
  /** @type {Map<string, string>} Tool calls by id. */
  #calls = new Map();
  #isInLine = false;

  /** @param {import("../../index.js").RunPart} part */
  print(part) {
    if (part.type === "text") this.#printText(part.text);
    if (part.type === "tool") this.#printTool(part);
    if (part.type === "end") this.#endLine();
  }

  /** @param {string} text */
  #printText(text) {
    this.#firstTextMs ||= performance.now() - this.#began;
    process.stdout.write(text);
    this.#isInLine = !text.endsWith("\n");
  }

  /** @param {import("../../index.js").RunTool} part */
  #printTool({ status, callID, tool, input, output = "", structured, error }) {
    this.#endLine();
    if (status === "running" && input !== undefined) {
      this.#calls.set(callID, `${tool} ${JSON.stringify(input)}`);
      console.log(`${cyan("→")} ${this.#calls.get(callID)}`);
    }
    // Calls run in parallel, so a result names its call.
    const shown = typeof structured?.content === "string" ? structured.content : output;
    if (status === "completed") console.log(`${green("←")} ${this.#calls.get(callID)}\n${clip(shown)}\n`);
    if (status === "failed") console.log(`${red("←")} ${this.#calls.get(callID)}\n  ${error?.message}\n`);
  }

  /** Text arrives in pieces. Other parts in between begin on a new line. */
  #endLine() {
    if (this.#isInLine) process.stdout.write("\n");
    this.#isInLine = false;
  }

  /** @param {import("../../index.js").RunResult} result */
  statistics({ messages, usage: { input, output, reasoning, cache } }) {
    const read = input + cache.read + cache.write;
    const took = formatDuration(performance.now() - this.#began);
    const first = formatDuration(this.#firstTextMs);
    const tokens = `${read} tokens in, ${output + reasoning} out`;
    return `${messages.length} turns, ${tokens}, first text after ${first}, ${took} in total`;
  }
}

/**
 * The first lines of a result.
 *
 * @param {string} text
 */
function clip(text) {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, SHOWN_LINES);
  if (lines.length > SHOWN_LINES) shown.push(`… ${lines.length - SHOWN_LINES} more lines`);
  return shown.map((line) => dim(`  ${line}`)).join("\n");
}

/**
 * A stored message as one line.
 *
 * @param {import("../../index.js").SessionMessage} message
 */
export function summarise(message) {
  const text = message.type === "assistant" ? message.content.map(describePart).join(" ") : textOf(message);
  return `${message.type.padEnd(10)} ${text.length > 80 ? `${text.slice(0, 79)}…` : text}`;
}

/** @param {import("../../index.js").SessionMessage} message */
function textOf(message) {
  return "text" in message ? message.text : "";
}

/** @param {import("../../index.js").AssistantPart} part */
function describePart(part) {
  return part.type === "tool" ? `[${part.name}: ${part.state.status}]` : part.text;
}
