// The smallest files that have the format of a platform's binary.

const HEADER = 64;
const SEGMENT = 56;
const ADDRESS = 0x1000;

/**
 * A shared library for Linux with two segments: the whole file, and the dynamic section.
 *
 * @param {number} machine
 * @param {Record<string, string[]>} libraries The libraries that it needs, with the versions of symbols from each.
 */
export function fakeElf(machine, libraries) {
  let strings = "\0";
  const add = (/** @type {string} */ text) => {
    const at = strings.length;
    strings += `${text}\0`;
    return at;
  };
  const names = Object.entries(libraries).map(([name, versions]) => ({ name: add(name), versions: versions.map(add) }));
  const needs = versionNeeds(names.filter(({ versions }) => versions.length > 0));
  const [stringsAt, needsAt] = [HEADER + 2 * SEGMENT, HEADER + 2 * SEGMENT + strings.length];
  const entries = [...names.map(({ name }) => [1, name]), [5, ADDRESS + stringsAt]];
  if (needs.length > 0) entries.push([0x6ffffffe, ADDRESS + needsAt]);
  const dynamic = Buffer.concat(entries.map((entry) => words64(...entry)));
  const dynamicAt = needsAt + needs.length;
  const size = dynamicAt + dynamic.length;
  const header = Buffer.alloc(HEADER);
  header.write("\x7fELF\x02\x01\x01", "latin1");
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(BigInt(HEADER), 32);
  header.writeUInt16LE(SEGMENT, 54);
  header.writeUInt16LE(2, 56);
  const segments = [segment(1, 0, size), segment(2, dynamicAt, dynamic.length)];
  return Buffer.concat([header, ...segments, Buffer.from(strings, "latin1"), needs, dynamic]);
}

/**
 * @param {number} type
 * @param {number} offset
 * @param {number} size
 */
function segment(type, offset, size) {
  return Buffer.concat([words32(type, 0), words64(offset, ADDRESS + offset, 0, size, size, 0)]);
}

/** @param {{ name: number, versions: number[] }[]} libraries */
function versionNeeds(libraries) {
  const records = libraries.map(({ name, versions }, index) => {
    const isLast = index === libraries.length - 1;
    const size = 16 * (1 + versions.length);
    const steps = versions.map((version, at) => words32(0, 0, version, at === versions.length - 1 ? 0 : 16));
    return Buffer.concat([words32(1, name, 16, isLast ? 0 : size), ...steps]);
  });
  return Buffer.concat(records);
}

/** @param {number} machine */
export function fakeMachO(machine) {
  return words32(0xfeedfacf, machine);
}

/** @param {number} machine */
export function fakeDll(machine) {
  const bytes = Buffer.alloc(72);
  bytes.write("MZ");
  bytes.writeUInt32LE(64, 60);
  bytes.write("PE\0\0", 64);
  bytes.writeUInt16LE(machine, 68);
  return bytes;
}

/** @param {number[]} values */
function words32(...values) {
  return Buffer.from(Uint32Array.from(values).buffer);
}

/** @param {number[]} values */
function words64(...values) {
  return Buffer.from(BigUint64Array.from(values, BigInt).buffer);
}
