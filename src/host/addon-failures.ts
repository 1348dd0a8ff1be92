import { taggedError } from "../client/failures.js";
import { platforms, name, version } from "./package.js";
import { glibcVersion } from "./platform.js";

/** The environment variable with the path of the binary to load. */
export const OVERRIDE = "OPENCODE_EMBEDDED_ADDON";

/** The message of a dynamic linker if the glibc of the system is too old. */
const NEEDED_GLIBC = /GLIBC_([\d.]+)[^\n]* not found/;

export function unsupported(platform: string) {
  return failure(undefined, `${name} has no binary for ${platform}. It has one for ${platforms.join(", ")}.`);
}

export function missing(platform: string) {
  const wanted = packageOf(platform);
  return failure(
    wanted,
    `The package ${wanted} with the binary for this platform is not installed. npm leaves it out with ` +
      `--omit=optional, or with a lock file or node_modules from another platform. To install it: ${install(wanted)}. ` +
      `A bundle or an executable also takes the file ${name}.${platform}.node beside it.`,
  );
}

export function otherVersion(platform: string, found: string) {
  const wanted = packageOf(platform);
  return failure(
    wanted,
    `The package ${wanted} has version ${found}, but ${name} has version ${version}. ` +
      `To install the same version: ${install(wanted)}`,
  );
}

export function unloadable(
  platform: string,
  { file, version: packaged }: { file: string; version?: string },
  cause: unknown,
) {
  const wanted = packageOf(platform);
  const said = cause instanceof Error ? cause.message : String(cause);
  const [, glibc] = NEEDED_GLIBC.exec(said) ?? [];
  const reason =
    glibc === undefined
      ? "It may be damaged or made for another system."
      : `It needs glibc ${glibc} or newer, and this system has ${glibcVersion() ?? "an older one"}.`;
  const isReinstallable = glibc === undefined && packaged !== undefined;
  const cure = isReinstallable ? ` Delete its folder, then install it again: ${install(wanted)}` : "";
  return failure(wanted, `The binary ${file} cannot be loaded: ${said.trim()}. ${reason}${cure}`);
}

export function tooFewDescriptors(platform: string, needed: number, code: string) {
  return failure(
    packageOf(platform),
    `The binary needs ${String(needed)} file descriptors to be loaded, and the system gives this process fewer ` +
      `(${code}). Close files or raise the limit (ulimit -n), then create the host again.`,
  );
}

export function notStarted(platform: string, reason: string) {
  return failure(
    packageOf(platform),
    `The binary was loaded and cannot work: ${reason}. Let the process have more threads and file descriptors ` +
      `(ulimit -u, ulimit -n), then start it again.`,
  );
}

export function notAbsolute(given: string) {
  return failure(undefined, `${OVERRIDE} must be the absolute path of a .node file, but it is ${given}`);
}

function packageOf(platform: string) {
  return platforms.includes(platform) ? `${name}-${platform}` : undefined;
}

function install(wanted: string | undefined) {
  return `npm install ${wanted}@${version}`;
}

function failure(wanted: string | undefined, message: string) {
  return taggedError({ _tag: "AddonUnavailableError", ...(wanted !== undefined && { package: wanted }), message });
}
