// Builds the addon for every Linux platform on any Linux. zig is the C compiler and the linker: it has the headers of
// every libc, and can link against an old glibc.

import { copyFileSync, existsSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { checkBinary, OLDEST_GLIBC } from "./binary.mjs";
import { Failure } from "./failure.mjs";
import { binaryName, listPlatforms } from "./platforms.mjs";
import { run } from "./process.mjs";
import { inProject } from "./project.mjs";
import { runTask } from "./task.mjs";
import { isInstalled } from "./tools.mjs";

/** @typedef {import("./platforms.mjs").Platform} Platform */

/** The Python environment for zig and cargo-zigbuild. */
const TOOLS = inProject("target/tools/zig");

/** Names versions and checksums, so that a release is built with reviewed tools. */
const REQUIREMENTS = inProject("scripts/lib/cross.txt");

/** A copy of the requirements at the time of the installation. */
const INSTALLED = path.join(TOOLS, "cross.txt");

/**
 * The platforms with these names. A name is that of a platform or of a Rust target.
 *
 * @param {readonly string[]} names If empty: every platform that can be built here.
 * @returns {Platform[]}
 */
export function findCrossPlatforms(names) {
  const known = listPlatforms().filter(({ os }) => os === "linux");
  if (names.length === 0) return known;
  return names.map((name) => {
    const found = known.find((platform) => name === platform.name || name === platform.target);
    if (found !== undefined) return found;
    throw new Failure(`${name} cannot be built here. Use one of ${known.map((platform) => platform.name).join(", ")}`);
  });
}

/** Installs zig and cargo-zigbuild into `target/`, unless they are installed. */
async function ensureTools() {
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === readFileSync(REQUIREMENTS, "utf8")) return;
  if (!(await isInstalled(["python3", "--version"]))) {
    throw new Failure("Cross builds install zig with Python: install python3 with venv and pip, then run this again");
  }
  await runTask("Making a Python environment", ["python3", "-m", "venv", "--clear", TOOLS]);
  const flags = ["--require-hashes", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"];
  const pip = [path.join(TOOLS, "bin/python"), "-m", "pip", "install", ...flags];
  await runTask("Installing zig", [...pip, "--requirement", REQUIREMENTS]);
  copyFileSync(REQUIREMENTS, INSTALLED);
}

/** @param {Platform} platform */
async function ensureStandardLibrary({ target }) {
  const rustup = ["rustup", "target", "list", "--installed"];
  // Without rustup the user completes the toolchain. Cargo reports missing parts.
  if (!(await isInstalled(rustup))) return;
  const { stdout } = await run(rustup);
  if (stdout.split("\n").includes(target)) return;
  await runTask(`Installing Rust's standard library for ${target}`, ["rustup", "target", "add", target]);
}

/**
 * Builds one platform, copies the binary to its place, and checks it. Returns the requirements of the binary as text.
 *
 * @param {Platform} platform
 * @param {string} profile A profile of `Cargo.toml`.
 */
export async function crossBuild(platform, profile) {
  await ensureTools();
  await ensureStandardLibrary(platform);
  const target = platform.libc === "glibc" ? `${platform.target}.${OLDEST_GLIBC}` : platform.target;
  const flags = ["--locked", "--package", "opencode-node", "--profile", profile, "--target", target];
  // cargo-zigbuild searches for zig in the Python environment of its PATH.
  const env = { ...process.env, PATH: `${path.join(TOOLS, "bin")}${path.delimiter}${process.env.PATH}` };
  const title = `Building ${platform.name} (${profile})`;
  await runTask(title, [path.join(TOOLS, "bin/cargo-zigbuild"), "zigbuild", ...flags], { env });
  place(platform, profile);
  return checkBinary(platform);
}

/**
 * @param {Platform} platform
 * @param {string} profile
 */
function place(platform, profile) {
  const folder = profile === "dev" ? "debug" : profile;
  const copy = inProject("target", binaryName(platform));
  copyFileSync(inProject("target", platform.target, folder, "libopencode_node.so"), copy);
  // Renaming keeps the old file for programs that have loaded it.
  renameSync(copy, inProject(binaryName(platform)));
}
