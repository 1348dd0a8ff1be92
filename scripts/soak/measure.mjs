// What a process holds, and whether it grows.

import fs from "node:fs";

/**
 * @typedef {object} Sample
 * @property {number} memory Resident bytes.
 * @property {number} descriptors
 * @property {number} threads
 * @property {number} watches Watches of inotify.
 * @property {number} file Bytes of the database.
 */

const MIB = 1024 * 1024;

/** By how much each figure may grow from the middle of a phase to its end. */
const ROOM = { memory: 24 * MIB, descriptors: 8, threads: 16, watches: 4 };

/** How much more bytes a turn may take at the end than at the beginning. */
const MOST_GROWTH_OF_A_TURN = 1.25;

/**
 * @param {string} database
 * @returns {Sample}
 */
export function measure(database) {
  globalThis.gc?.();
  const status = fs.readFileSync("/proc/self/status", "utf8");
  const descriptors = fs.readdirSync("/proc/self/fd");
  return {
    memory: process.memoryUsage.rss(),
    descriptors: descriptors.length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]),
    watches: descriptors.reduce((sum, descriptor) => sum + watchesOf(descriptor), 0),
    file: fs.existsSync(database) ? fs.statSync(database).size : 0,
  };
}

/** @param {string} descriptor */
function watchesOf(descriptor) {
  try {
    const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
    return info.split("\n").filter((line) => line.startsWith("inotify ")).length;
  } catch {
    // It was closed meanwhile: the one that listed the others.
    return 0;
  }
}

/**
 * The figures that grow from the middle of a phase to its end, each in a sentence.
 *
 * @param {string} phase
 * @param {readonly Sample[]} samples
 */
export function growing(phase, samples) {
  const [middle, last] = [samples[Math.floor(samples.length / 2)], samples[samples.length - 1]];
  return /** @type {(keyof typeof ROOM)[]} */ (Object.keys(ROOM))
    .filter((figure) => last[figure] > middle[figure] + ROOM[figure])
    .map((figure) => `${phase}: ${figure} grows from ${middle[figure]} to ${last[figure]}`);
}

/**
 * Whether turns take more of the file the longer the host runs, in a sentence.
 *
 * @param {readonly Sample[]} samples After equally many turns each.
 */
export function growingTurns(samples) {
  const sizes = samples.map(({ file }) => file);
  const middle = Math.floor(sizes.length / 2);
  const first = (sizes[middle] - sizes[0]) / middle;
  const second = (sizes[sizes.length - 1] - sizes[middle]) / (sizes.length - 1 - middle);
  if (second <= first * MOST_GROWTH_OF_A_TURN + MIB) return [];
  return [`turns: the file grows by ${Math.round(first)} bytes, then by ${Math.round(second)} bytes in as many turns`];
}
