"use strict";

// What the programs of these tests have in common. A program gets its input as JSON and speaks in lines of JSON.

const fs = require("node:fs");
const { OpenCode } = require("../../../index.js");

/** What the test gave this program. */
const input = JSON.parse(process.argv[2] ?? "{}");

/**
 * Tells the test. Writing to a pipe is synchronous, so what was said is out when the process dies.
 *
 * @param {string} line
 * @param {object} [details]
 */
function say(line, details) {
  process.stdout.write(`${JSON.stringify({ line, ...details })}\n`);
}

/** Opens the host that the test asked for. */
function open() {
  return OpenCode.create(input.options);
}

/** @returns {number[]} Every file descriptor that the process may have and does not use. */
function takeDescriptors() {
  /** @type {number[]} */
  const taken = [];
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"));
  } catch {
    return taken;
  }
}

/** @param {number[]} taken */
function giveBack(taken) {
  for (const descriptor of taken.splice(0)) fs.closeSync(descriptor);
}

module.exports = { giveBack, input, open, say, takeDescriptors };
