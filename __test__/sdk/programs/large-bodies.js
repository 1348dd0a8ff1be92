"use strict";

// Sends large bodies one after the other, and prints the answers and the memory that they took.

const { readFileSync } = require("node:fs");
const { OpenCode } = require("../../../index.js");

// A listener accepts at most 64 MiB.
const SIZE = 63 * 1024 * 1024;
const fill = (/** @type {string} */ piece) => piece.repeat(SIZE / piece.length);

/** @type {Record<string, () => string>} */
const bodies = {
  text: () => `{"prompt":{"text":"${fill("x")}"},"resume":false}`,
  unfinished: () => `{"prompt":{"text":"${fill("x")}`,
  nested: () => fill("["),
  numbers: () => `{"more":[${fill("1,")}1]}`,
  members: () => `{"more":{${fill('"a":1,')}"b":1}}`,
};

const megabytes = (/** @type {number} */ bytes) => Math.round(bytes / 1024 / 1024);

/**
 * Returns the largest memory of this process in bytes. On Linux `maxRSS` also counts the memory of the parent process at
 * the start, which is a large test runner.
 */
function readPeak() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

async function main() {
  const way = process.argv[2];
  const host = await OpenCode.create({ database: ":memory:", env: {} });
  const { id } = await host.sessions.create();
  const url = way === "network" ? (await host.listen({ password: false })).url : "http://any.host";
  const ask = way === "network" ? fetch : host.fetch;
  const headers = { "content-type": "application/json" };
  const send = async (/** @type {Uint8Array<ArrayBuffer>} */ body) => {
    const response = await ask(`${url}/api/session/${id}/prompt`, { method: "POST", headers, body });
    const { _tag, kind, field } = await response.json();
    return [response.status, _tag, kind ?? field].join(" ");
  };
  const answers = [];
  for (const [name, make] of Object.entries(bodies)) {
    const body = new TextEncoder().encode(make());
    answers.push([name, await send(body), await send(body)]);
  }
  console.log(JSON.stringify({ answers, peak: megabytes(readPeak()) }));
  await host.close();
}

void main();
