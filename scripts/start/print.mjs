// Events of a session as lines of a terminal.

import { cyan, dim, formatDuration, green, red } from "../lib/terminal.mjs";

/** Lines of a tool's result that are shown. */
const SHOWN_LINES = 6;

export class Printer {
  /** Whether nothing more will come. */
  isSettled = false;
  /** @type {import("./explain.mjs").Problem | undefined} */
  failure = undefined;
  #began = performance.now();
  #firstTextMs = 0;
  #turns = 0;
  #tokens = { input: 0, output: 0 };
  /** @type {Map<string, string>} The tool calls of the turn. */
  #calls = new Map();
  #isInLine = false;

  /** @param {import("../../index.js").OpenCodeEvent} event */
  print({ type, data }) {
    switch (type) {
      case "session.next.step.started":
        this.#calls.clear();
        break;
      case "session.next.text.delta":
        this.#firstTextMs ||= performance.now() - this.#began;
        process.stdout.write(data.delta);
        this.#isInLine = !data.delta.endsWith("\n");
        break;
      case "session.next.text.ended":
        this.#endLine();
        break;
      case "session.next.tool.called":
        this.#endLine();
        this.#calls.set(data.callID, `${data.tool} ${JSON.stringify(data.input)}`);
        console.log(`${cyan("→")} ${this.#calls.get(data.callID)}`);
        break;
      case "session.next.tool.success":
        this.#endLine();
        // Calls run side by side, so a result says whose it is.
        console.log(`${green("←")} ${this.#calls.get(data.callID)}\n${renderResult(data)}\n`);
        break;
      case "session.next.tool.failed":
        this.#endLine();
        console.log(`${red("←")} ${this.#calls.get(data.callID)}\n  ${data.error.message}\n`);
        break;
      case "session.next.step.ended":
        this.#endStep(data);
        break;
      case "session.next.step.failed":
        this.#fail(data.error);
        break;
      case "session.error":
        this.#fail({ message: data.error.data.message, cause: data.error.cause });
        break;
    }
  }

  /** Text arrives in pieces and other things happen meanwhile: they begin a line of their own. */
  #endLine() {
    if (this.#isInLine) process.stdout.write("\n");
    this.#isInLine = false;
  }

  /** @param {{ tokens: import("../../index.js").Tokens }} step */
  #endStep({ tokens }) {
    this.#turns += 1;
    this.#tokens.input += tokens.input + tokens.cache.read + tokens.cache.write;
    this.#tokens.output += tokens.output + tokens.reasoning;
    // The results of tools go back to the model, which then says more.
    this.isSettled = this.#calls.size === 0;
  }

  /** @param {import("./explain.mjs").Problem} failure */
  #fail(failure) {
    this.#endLine();
    this.failure = failure;
    this.isSettled = true;
  }

  statistics() {
    const { input, output } = this.#tokens;
    const took = formatDuration(performance.now() - this.#began);
    const first = formatDuration(this.#firstTextMs);
    return `${this.#turns} turns, ${input} tokens in, ${output} out, first text after ${first}, ${took} in all`;
  }
}

/**
 * What the model sees of a result: its content, or without content the value for programs.
 *
 * @param {{ content: readonly import("../../index.js").ToolContent[], structured: Record<string, unknown> }} result
 */
function renderResult({ content, structured }) {
  const texts = content.map((part) => (part.type === "text" ? part.text : part.mime));
  const value = typeof structured.content === "string" ? structured.content : JSON.stringify(structured);
  if (texts.length === 0) texts.push(value);
  const lines = texts.join("\n").trimEnd().split("\n");
  const shown = lines.slice(0, SHOWN_LINES);
  if (lines.length > SHOWN_LINES) shown.push(`… ${lines.length - SHOWN_LINES} more lines`);
  return shown.map((line) => dim(`  ${line}`)).join("\n");
}

/**
 * A stored message in one line.
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
