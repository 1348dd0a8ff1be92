// Measures the resources of a process, and finds growing figures.

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

/** The allowed growth of each figure from the middle of a phase to its end. */
const ROOM = { memory: 24 * MIB, descriptors: 8, threads: 16, watches: 4 };

/** The allowed ratio of the bytes per turn at the end to those at the beginning. */
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
    // The descriptor that was used to list the others is closed by now.
    return 0;
  }
}

/**
 * The figures that grow from the middle of a phase to its end, one sentence each.
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
 * A sentence if the bytes per turn increase while the host runs. Otherwise empty.
 *
 * @param {readonly Sample[]} samples One after each of several equal numbers of turns.
 */
export function growingTurns(samples) {
  const sizes = samples.map(({ file }) => file);
  const middle = Math.floor(sizes.length / 2);
  const first = (sizes[middle] - sizes[0]) / middle;
  const second = (sizes[sizes.length - 1] - sizes[middle]) / (sizes.length - 1 - middle);
  if (second <= first * MOST_GROWTH_OF_A_TURN + MIB) return [];
  return [`turns: the file grows by ${Math.round(first)} bytes, then by ${Math.round(second)} bytes in as many turns`];
}
