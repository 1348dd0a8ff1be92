// Checks that a built binary is for the platform in its name, and that the oldest supported system can load it.

import { readFileSync } from "node:fs";
import path from "node:path";
import { readElf } from "./elf.mjs";
import { Failure } from "./failure.mjs";
import { binaryName } from "./platforms.mjs";
import { inProject } from "./project.mjs";

/** @typedef {import("./platforms.mjs").Platform} Platform */

/** The oldest glibc that the released binaries support: the oldest one that Rust's standard library supports. */
export const OLDEST_GLIBC = "2.17";

/** The architectures as numbers in the header of a binary. @type {Record<string, Record<string, number>>} */
const MACHINES = {
  linux: { x64: 62, arm64: 183 },
  darwin: { x64: 0x0100_0007, arm64: 0x0100_000c },
  win32: { x64: 0x8664, arm64: 0xaa64 },
};

/** The libraries of glibc, and the part of GCC that unwinds stacks, which every system with glibc has. */
const GLIBC_LIBRARIES = /^(lib(c|m|dl|rt|util|pthread|gcc_s)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/;

/** A system with musl has only its libc. */
const MUSL_LIBRARIES = /^libc(\.musl-\w+)?\.so(\.1)?$/;

/**
 * Throws a `Failure` that lists all problems. Returns the requirements of the binary as text.
 *
 * @param {Platform} platform
 * @param {string} [file] Default: the file that builds create.
 */
export function checkBinary(platform, file = inProject(binaryName(platform))) {
  const problems = platform.os === "linux" ? linuxProblems(platform, file) : formatProblems(platform, file);
  if (problems.length > 0) throw new Failure(`${path.basename(file)} ${problems.join("; ")}`);
  return platform.libc === "glibc" ? `needs glibc ${newestGlibc(readElf(file))}` : `is for ${platform.name}`;
}

/**
 * @param {Platform} platform
 * @param {string} file
 */
function linuxProblems(platform, file) {
  const elf = readElf(file);
  const problems = machineProblems(platform, elf.machine);
  const known = platform.libc === "musl" ? MUSL_LIBRARIES : GLIBC_LIBRARIES;
  const others = elf.libraries.filter((library) => !known.test(library));
  if (others.length > 0) problems.push(`needs ${others.join(", ")}, which some ${platform.libc} systems lack`);
  const newest = newestGlibc(elf);
  if (platform.libc === "musl" && newest !== undefined) problems.push("needs glibc instead of musl");
  if (platform.libc === "glibc" && compareVersions(newest ?? "0", OLDEST_GLIBC) > 0) {
    problems.push(`needs glibc ${newest}, but must run with ${OLDEST_GLIBC}: build it with scripts/cross.mjs`);
  }
  return problems;
}

/** @param {import("./elf.mjs").Elf} elf */
function newestGlibc({ versions }) {
  const names = [...versions.values()].flat();
  const numbers = names.flatMap((name) => name.match(/^GLIBC_(\d.*)$/)?.[1] ?? []);
  return numbers.sort(compareVersions).at(-1);
}

/**
 * @param {string} one
 * @param {string} other
 */
function compareVersions(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}

/**
 * @param {Platform} platform
 * @param {string} file
 */
function formatProblems(platform, file) {
  const bytes = readFileSync(file);
  if (platform.os === "darwin") {
    const isMachO = bytes.length >= 8 && bytes.readUInt32LE(0) === 0xfeedfacf;
    return isMachO ? machineProblems(platform, bytes.readUInt32LE(4)) : ["is not a 64-bit Mach-O file"];
  }
  const header = bytes.length >= 64 && bytes.toString("latin1", 0, 2) === "MZ" ? bytes.readUInt32LE(60) : bytes.length;
  const isPe = bytes.toString("latin1", header, header + 4) === "PE\0\0";
  return isPe ? machineProblems(platform, bytes.readUInt16LE(header + 4)) : ["is not a Windows DLL"];
}

/**
 * @param {Platform} platform
 * @param {number} machine
 */
function machineProblems({ os, cpu }, machine) {
  return machine === MACHINES[os][cpu] ? [] : [`is for the architecture ${machine}, not for ${cpu}`];
}
