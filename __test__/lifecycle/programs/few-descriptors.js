"use strict";

// Opens a host, or only loads the addon, with few free file descriptors, then with enough of them.

const { giveBack, input, open, print, takeDescriptors } = require("./support.js");

async function openAndClose() {
  try {
    const host = await open();
    await host.close();
    return { tag: null };
  } catch (error) {
    const { _tag: tag, message } = /** @type {import("../../../index.js").OpenCodeError} */ (error);
    return { tag, message };
  }
}

function loadAlone() {
  try {
    return { tag: null, notStarted: require(input.addon).notStarted() };
  } catch (error) {
    return { tag: null, message: String(error) };
  }
}

async function main() {
  const taken = takeDescriptors();
  giveBack(taken.splice(0, input.free));
  const first = input.addon === undefined ? await openAndClose() : loadAlone();
  giveBack(taken);
  print("first", first);
  if (input.addon === undefined) print("second", await openAndClose());
}

void main();
