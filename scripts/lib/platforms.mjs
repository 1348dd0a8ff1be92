// The platforms with a binary. Each has an npm package that contains only the binary.

import { Failure } from "./failure.mjs";
import { readManifest } from "./project.mjs";

/**
 * @typedef {object} Platform
 * @property {string} target The Rust target.
 * @property {string} name The folder in `npm/`, which is also part of the names of the file and the package.
 * @property {string} os
 * @property {string} cpu
 * @property {string | undefined} libc
 */

/** @type {Readonly<Record<string, string>>} */
const CPUS = { x86_64: "x64", aarch64: "arm64" };

/** @type {Readonly<Record<string, string>>} */
const SYSTEMS = { linux: "linux", darwin: "darwin", windows: "win32" };

/** @type {Readonly<Record<string, string>>} */
const LIBCS = { gnu: "glibc", musl: "musl" };

/**
 * The platforms of `package.json`.
 *
 * @returns {Platform[]}
 */
export function listPlatforms() {
  return readManifest().napi.targets.map(toPlatform);
}

/**
 * @param {string} target
 * @returns {Platform}
 */
function toPlatform(target) {
  const [arch, , system, abi] = target.split("-");
  const os = SYSTEMS[system];
  const cpu = CPUS[arch];
  const name = [os, cpu, abi].filter((part) => part !== undefined).join("-");
  return { target, name, os, cpu, libc: os === "linux" ? LIBCS[abi] : undefined };
}

/** The platform of this Node. */
export function currentPlatform() {
  const { platform: os, arch: cpu } = process;
  const libc = os === "linux" ? currentLibc() : undefined;
  const found = listPlatforms().find((known) => known.os === os && known.cpu === cpu && known.libc === libc);
  if (found !== undefined) return found;
  throw new Failure(`There is no binary for ${[os, cpu, libc].filter(Boolean).join(" ")}`);
}

function currentLibc() {
  const { header } = /** @type {{ header: Record<string, unknown> }} */ (process.report.getReport());
  return header.glibcVersionRuntime === undefined ? "musl" : "glibc";
}

/**
 * The name of the binary of a platform, in the project and in its package.
 *
 * @param {Platform} platform
 */
export function binaryName(platform) {
  return `${readManifest().napi.binaryName}.${platform.name}.node`;
}

/** @param {Platform} platform */
export function platformPackageName(platform) {
  return `${readManifest().napi.packageName}-${platform.name}`;
}

/**
 * The required files of a platform's folder, by name.
 *
 * @param {Platform} platform
 * @returns {Record<string, string>}
 */
export function platformFiles(platform) {
  const { name, version, license, engines } = readManifest();
  const binary = binaryName(platform);
  const manifest = {
    name: platformPackageName(platform),
    version,
    description: `The ${platform.target} binary of ${name}.`,
    license,
    engines,
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc === undefined ? {} : { libc: [platform.libc] }),
    main: binary,
    files: [binary],
  };
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "README.md": `The \`${platform.target}\` binary of \`${name}\`, which installs it where it is needed.\n`,
  };
}
