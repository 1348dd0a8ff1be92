"use strict";

// Shared code of the programs of these tests. A program receives its input as JSON and prints lines of JSON.

const fs = require("node:fs");
const { OpenCode } = require("../../../index.js");

/** The input from the test. */
const input = JSON.parse(process.argv[2] ?? "{}");

/**
 * Prints a line for the test. Writing to a pipe is synchronous, so the line is complete if the process is killed later.
 *
 * @param {string} line
 * @param {object} [details]
 */
function print(line, details) {
  process.stdout.write(`${JSON.stringify({ line, ...details })}\n`);
}

/** Opens the host with the options of the test. */
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

module.exports = { giveBack, input, open, print, takeDescriptors };
