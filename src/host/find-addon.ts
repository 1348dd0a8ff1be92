// Finds the addon at run time. Bundlers must not see its name, because they would try to bundle the binary.

import { createRequire, fs, path } from "./builtins.js";
import { name } from "./package.js";
import type { Addon } from "./native-types.js";

type Load = (file: string) => Addon;

export interface FoundAddon {
  file: string;
  /** Version of its package. Absent for a file outside a package. */
  version?: string;
  load: Load;
}

/**
 * Finds the addon: a copy beside a bundle or executable, or a development build beside our manifest, then the package of
 * the platform.
 */
export function findAddon(platform: string): FoundAddon | undefined {
  for (const place of places()) {
    const requires = listRequires(place);
    for (const find of [findCopy, findInPackage]) {
      for (const require of requires) {
        const found = find(require, platform);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

/**
 * The `require` of a file, and that of our package if the file can import it. With pnpm, only our package may import the
 * package of the platform.
 */
function listRequires(place: string): NodeJS.Require[] {
  const require = createRequire(place);
  const manifest = resolve(require, `${name}/package.json`);
  return manifest === undefined ? [require] : [require, createRequire(manifest)];
}

/**
 * The files that contain this code: this file, its bundle, the executable. Never the working directory, which may
 * hold an untrusted project.
 */
function* places() {
  if (typeof __filename === "string" && isLocation(__filename)) yield __filename;
  const running = runningFile();
  if (isLocation(running)) yield running;
  yield process.execPath;
}

function isLocation(file: string | undefined): file is string {
  return file !== undefined && (file.startsWith("file:") || path.isAbsolute(file));
}

/**
 * The file that runs. A bundle in ESM has no `__filename`, and some bundlers replace it with the name of the source
 * file.
 */
function runningFile(): string | undefined {
  const { prepareStackTrace } = Error;
  // Unlike an assignment, this does not throw if the program has frozen `Error`.
  Reflect.set(Error, "prepareStackTrace", firstFile);
  try {
    const file = new Error("Where is this?").stack as unknown;
    return typeof file === "string" ? file : undefined;
  } finally {
    Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
  }
}

function firstFile(_error: Error, sites: NodeJS.CallSite[]) {
  return sites[0]?.getFileName();
}

function findCopy(require: NodeJS.Require, platform: string): FoundAddon | undefined {
  const binary = `${name}.${platform}.node`;
  const file = resolve(require, `./${binary}`) ?? resolve(require, `../${binary}`);
  return file === undefined ? undefined : { file, load: require };
}

function findInPackage(require: NodeJS.Require, platform: string): FoundAddon | undefined {
  const file = resolve(require, `${name}-${platform}`);
  const manifest = resolve(require, `${name}-${platform}/package.json`);
  if (file === undefined || manifest === undefined) return undefined;
  const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));
  return { file, version, load: require };
}

function resolve(require: NodeJS.Require, request: string): string | undefined {
  try {
    return require.resolve(request);
  } catch {
    return undefined;
  }
}
