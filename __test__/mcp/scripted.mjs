// A server of the Model Context Protocol over its standard input and output, whose behaviour its arguments choose.
//
//   node scripted.mjs [<behaviour> [<file>]]
//
// Behaviours: `exit` ends at once, `noise` writes a line that is no message, `flood` writes without an end, `silent`
// never answers, `prompts` has a prompt and refuses its first request, `instructions` has instructions, `parent` starts a child process and writes the ids of both processes
// to the file, `tools` has the tools of the file, which return their input, `raw` has the tool `raw`, whose calls it
// answers with the bytes of the file.
//
// Tools: `echo` returns its input, `pid` the number of the process, `die` ends the process, `hang` never answers, `add`
// adds the tool `added`, `fail` fails, `env` returns a variable, `big` returns many bytes, `wrong` returns a text in place
// of a list of contents.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [behaviour = "ordinary", file = ""] = process.argv.slice(2);
const schema = { type: "object", properties: { text: { type: "string" } } };
const tools = ["echo", "pid", "die", "hang", "add", "fail", "env", "big", "wrong"];

let promptRequests = 0;

if (behaviour === "exit") process.exit(3);
if (behaviour === "noise") console.log("This is no message.");
if (behaviour === "flood") flood();
if (behaviour === "parent") {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  writeFileSync(file, JSON.stringify([process.pid, child.pid]));
}

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
/** @param {string} value */
const text = (value) => ({ content: [{ type: "text", text: value }] });

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = id === undefined ? undefined : answer(method, params ?? {}, id);
  if (result !== undefined) send({ id, result });
}

/**
 * @param {string} method
 * @param {any} params
 * @param {number} id
 */
function answer(method, params, id) {
  switch (method) {
    case "initialize":
      if (behaviour === "silent") return undefined;
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, ...(behaviour === "prompts" ? { prompts: {} } : {}) },
        serverInfo: { name: "scripted", version: "1.0.0" },
        instructions: behaviour === "instructions" ? "Prefer echo." : undefined,
      };
    case "tools/list":
      if (behaviour === "raw") return { tools: [{ name: "raw", inputSchema: schema }] };
      if (behaviour === "tools") return { tools: JSON.parse(readFileSync(file, "utf8")) };
      return { tools: tools.map((name) => ({ name, description: `The tool ${name}.`, inputSchema: schema })) };
    case "prompts/list":
      return { prompts: [{ name: "greet", arguments: [{ name: "name" }] }] };
    case "prompts/get":
      promptRequests += 1;
      if (promptRequests === 1) return {};
      return { messages: [{ role: "user", content: { type: "text", text: `Greet ${params.arguments.name}.` } }] };
    case "tools/call":
      if (behaviour === "raw") return sendRaw(id);
      return call(params.name, params.arguments ?? {});
    default:
      return {};
  }
}

/**
 * @param {string} name
 * @param {{ text?: string }} input
 */
function call(name, input) {
  switch (name) {
    case "echo":
      return text(JSON.stringify(input));
    case "pid":
      return text(String(process.pid));
    case "die":
      return process.exit(1);
    case "hang":
      return undefined;
    case "add":
      tools.push("added");
      send({ method: "notifications/tools/list_changed" });
      return text("added");
    case "fail":
      return { ...text("It does not work."), isError: true };
    case "env":
      return text(process.env[input.text ?? ""] ?? "unset");
    case "big":
      return text("x".repeat(200_000));
    case "wrong":
      return { content: "a text" };
    default:
      return text(behaviour === "tools" ? JSON.stringify(input) : "called");
  }
}

/**
 * Sends the bytes of the file, with the id of the request in the place of `"$id"`.
 *
 * @param {number} id
 */
function sendRaw(id) {
  const bytes = readFileSync(file, "latin1").replaceAll('"$id"', String(id));
  process.stdout.write(bytes, "latin1");
}

/** Writes without an end, and without a line end. */
function flood() {
  const write = () => process.stdout.write("y".repeat(1 << 16), () => setImmediate(write));
  write();
}
