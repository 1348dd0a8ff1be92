// Reads the libraries, and the versions of their symbols, that a 64-bit little-endian ELF file needs.

import { readFileSync } from "node:fs";
import { Failure } from "./failure.mjs";

/**
 * @typedef {object} Elf
 * @property {number} machine The number of the architecture in the ELF header.
 * @property {string[]} libraries The shared libraries the file is linked against.
 * @property {Map<string, string[]>} versions The symbol versions the file needs, by library.
 */

const LOAD = 1;
const DYNAMIC = 2;

/** Tags of the dynamic section. */
const NEEDED = 1n;
const STRING_TABLE = 5n;
const VERSION_NEEDS = 0x6ffffffen;

/**
 * @param {string} file
 * @returns {Elf}
 */
export function readElf(file) {
  const bytes = readFileSync(file);
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes.readUInt16BE(4) !== 0x0201) {
    throw new Failure(`${file} is not a 64-bit little-endian ELF file`);
  }
  const segments = readSegments(bytes);
  const entries = readDynamic(bytes, segments);
  const offsetOf = (/** @type {bigint} */ tag) => toOffset(segments, entries.find((entry) => entry.tag === tag)?.value);
  const strings = offsetOf(STRING_TABLE) ?? 0;
  const text = (/** @type {number | bigint} */ at) => readText(bytes, strings + Number(at));
  return {
    machine: bytes.readUInt16LE(18),
    libraries: entries.filter(({ tag }) => tag === NEEDED).map(({ value }) => text(value)),
    versions: readVersions(bytes, offsetOf(VERSION_NEEDS), text),
  };
}

/** @typedef {{ type: number, offset: bigint, address: bigint, size: bigint }} Segment */

/**
 * @param {Buffer} bytes
 * @returns {Segment[]}
 */
function readSegments(bytes) {
  const [table, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = table + index * size;
    return {
      type: bytes.readUInt32LE(at),
      offset: bytes.readBigUInt64LE(at + 8),
      address: bytes.readBigUInt64LE(at + 16),
      size: bytes.readBigUInt64LE(at + 32),
    };
  });
}

/**
 * @param {Buffer} bytes
 * @param {Segment[]} segments
 */
function readDynamic(bytes, segments) {
  const segment = segments.find(({ type }) => type === DYNAMIC);
  const entries = [];
  for (let at = Number(segment?.offset ?? 0), left = Number(segment?.size ?? 0); left >= 16; at += 16, left -= 16) {
    entries.push({ tag: bytes.readBigUInt64LE(at), value: bytes.readBigUInt64LE(at + 8) });
  }
  return entries;
}

/**
 * The offset in the file of the data that has this address when it is loaded.
 *
 * @param {Segment[]} segments
 * @param {bigint | undefined} address
 */
function toOffset(segments, address) {
  if (address === undefined) return undefined;
  const holds = (/** @type {Segment} */ { type, address: start, size }) =>
    type === LOAD && address >= start && address < start + size;
  const segment = segments.find(holds);
  return segment === undefined ? undefined : Number(address - segment.address + segment.offset);
}

/**
 * There is one record per library, each followed by one per version. Every record contains the distance to the next
 * one, or 0 in the last one.
 *
 * @param {Buffer} bytes
 * @param {number | undefined} table
 * @param {(at: number) => string} text
 */
function readVersions(bytes, table, text) {
  const versions = new Map();
  if (table === undefined) return versions;
  for (let library = table, next = 1; next !== 0; library += next) {
    const names = [];
    for (let version = library + bytes.readUInt32LE(library + 8), step = 1; step !== 0; version += step) {
      names.push(text(bytes.readUInt32LE(version + 8)));
      step = bytes.readUInt32LE(version + 12);
    }
    versions.set(text(bytes.readUInt32LE(library + 4)), names);
    next = bytes.readUInt32LE(library + 12);
  }
  return versions;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 */
function readText(bytes, at) {
  return bytes.toString("utf8", at, bytes.indexOf(0, at));
}
