import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { buildSync } from "esbuild";
import { describePlatform } from "../../dist/host/platform.js";

const root = path.resolve(__dirname, "../..");
const { version } = require("../../package.json") as { version: string };
const platform = describePlatform();
const packageName = `opencode-embedded-${platform}`;
const binary = `opencode-embedded.${platform}.node`;

let folder: string;

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "opencode-embedded-addon-")));
  for (const file of ["index.js", "index.mjs", "package.json", "dist"]) {
    fs.cpSync(path.join(root, file), path.join(folder, "node_modules/opencode-embedded", file), { recursive: true });
  }
});

afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The failure of `OpenCode.create` in a program that has only the package installed and first runs `preparation`. */
function createIn(cwd: string, preparation = "", env: Record<string, string> = {}) {
  const program = `
    ${preparation}
    const { OpenCode, isAddonUnavailableError } = require(${JSON.stringify(path.join(folder, "node_modules/opencode-embedded"))});
    OpenCode.create({ database: ":memory:" }).then(
      async (host) => (await host.close(), "opened"),
      (error) => ({ ...error, isError: error instanceof Error, isGuarded: isAddonUnavailableError(error) }),
    ).then((result) => console.log(JSON.stringify(result)));
  `;
  return JSON.parse(run(["--eval", program], cwd, env));
}

function create(preparation?: string, env?: Record<string, string>) {
  return createIn(folder, preparation, env);
}

function run(args: string[], cwd = folder, env: Record<string, string> = {}) {
  const own = { ...process.env, HOME: folder, OPENCODE_EMBEDDED_ADDON: "", ...env };
  return execFileSync(process.execPath, args, { cwd, env: own, encoding: "utf8", stdio: "pipe" });
}

/** Installs a package with the binary for this platform. */
function install(content: string | Buffer, { into = folder, as = version } = {}) {
  const place = path.join(into, "node_modules", packageName);
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, "package.json"), JSON.stringify({ name: packageName, version: as, main: binary }));
  fs.writeFileSync(path.join(place, binary), content);
  return path.join(place, binary);
}

const failure = (message: string) => ({
  _tag: "AddonUnavailableError",
  package: packageName,
  message: expect.stringContaining(message),
  isError: true,
  isGuarded: true,
});

const command = `npm install ${packageName}@${version}`;

test("the failure for a missing platform package names the package and the command that installs it", () => {
  const failed = create();
  expect(failed).toEqual(failure(`The package ${packageName} with the binary for this platform is not installed.`));
  expect(failed.message).toContain(`To install it: ${command}.`);
});

test("refuses a platform package of another version", () => {
  install("", { as: "0.0.9" });
  const expected = `The package ${packageName} has version 0.0.9, but opencode-embedded has version ${version}.`;
  expect(create()).toEqual(failure(`${expected} To install the same version: ${command}`));
});

test("the failure for a damaged binary names the file and the cause", () => {
  const file = install("no binary");
  const failed = create();
  expect(failed).toEqual(failure(`The binary ${file} cannot be loaded: `));
  expect(failed.message).toContain(
    `It may be damaged or made for another system. Delete its folder, then install it again: ${command}`,
  );
});

test("the failure for a glibc that is too old names the required version", () => {
  const file = install("");
  const said = `/lib/libc.so.6: version \`GLIBC_2.99' not found (required by ${file})`;
  const failed = create(`require.extensions[".node"] = () => { throw new Error(${JSON.stringify(said)}) };`);
  expect(failed).toEqual(failure(said));
  expect(failed.message).toMatch(/It needs glibc 2\.99 or newer, and this system has (\d+\.\d+|an older one)\.$/);
});

test("the failure for a platform without a binary lists the platforms that have one", () => {
  const failed = create(`Object.defineProperty(process, "platform", { value: "freebsd" });`);
  expect(failed.package).toBeUndefined();
  expect(failed.message).toMatch(
    /^opencode-embedded has no binary for freebsd-\w+\. It has one for linux-x64-gnu, .*win32-arm64-msvc\.$/,
  );
});

test.each([
  ["/lib64/ld-linux-x86-64.so.2", "gnu"],
  ["/nix/store/0-glibc-2.40/lib/ld-linux-aarch64.so.1", "gnu"],
  ["/lib/ld-musl-x86_64.so.1", "musl"],
])("a runtime with the interpreter %s loads the binary for %s", (interpreter, libc) => {
  const runtime = path.join(folder, "runtime");
  fs.writeFileSync(runtime, `\x7fELF${"\0".repeat(600)}${interpreter}\0`);
  const failed = create(`
    Object.defineProperties(process, { platform: { value: "linux" }, arch: { value: "x64" } });
    process.execPath = ${JSON.stringify(runtime)};
  `);
  expect(failed.package).toBe(`opencode-embedded-linux-x64-${libc}`);
});

test.each([
  ["{ header: {}, sharedObjects: ['/lib/ld-musl-x86_64.so.1'] }", "musl"],
  ["{ header: { glibcVersionRuntime: '2.36' }, sharedObjects: [] }", "gnu"],
  ["undefined", "gnu"],
])("a runtime with an unreadable executable and the report %s loads the binary for %s", (report, libc) => {
  const failed = create(`
    Object.defineProperties(process, { platform: { value: "linux" }, arch: { value: "x64" } });
    process.execPath = "/nowhere/node";
    process.report.getReport = () => (${report});
  `);
  expect(failed.package).toBe(`opencode-embedded-linux-x64-${libc}`);
});

test("does not load a binary from the working directory, because the project may be untrusted", () => {
  const project = path.join(folder, "project");
  install("planted", { into: project });
  fs.writeFileSync(path.join(project, binary), "planted");
  expect(createIn(project)).toEqual(failure("is not installed"));
});

test("a bundle loads the platform package beside the package, as pnpm installs it, not from the project", () => {
  const store = path.join(folder, "store");
  const [link, stored] = [folder, store].map((place) => path.join(place, "node_modules/opencode-embedded"));
  fs.mkdirSync(path.dirname(stored!), { recursive: true });
  fs.renameSync(link!, stored!);
  fs.symlinkSync(stored!, link!, "junction");
  install("", { into: store, as: "0.0.9" });
  const contents = `
    import { OpenCode } from "opencode-embedded";
    OpenCode.create({ database: ":memory:" }).catch((error) => console.log(error.message));
  `;
  const outfile = path.join(folder, "dist/main.mjs");
  buildSync({ stdin: { contents, resolveDir: folder }, bundle: true, platform: "node", format: "esm", outfile });
  expect(run([outfile])).toContain(`The package ${packageName} has version 0.0.9`);
});

test("OPENCODE_EMBEDDED_ADDON selects the binary by an absolute path", () => {
  const addon = path.join(root, binary);
  expect(create("", { OPENCODE_EMBEDDED_ADDON: addon })).toBe("opened");
  const relative = create("", { OPENCODE_EMBEDDED_ADDON: binary });
  expect(relative.message).toBe(
    `OPENCODE_EMBEDDED_ADDON must be the absolute path of a .node file, but it is ${binary}`,
  );
  const missing = path.join(folder, "missing.node");
  expect(create("", { OPENCODE_EMBEDDED_ADDON: missing }).message).toContain(
    `The binary ${missing} cannot be loaded: `,
  );
});

test("a program that opens no host needs no binary", () => {
  const program = `
    const { createClient } = require("opencode-embedded");
    console.log(typeof createClient({ baseUrl: "http://127.0.0.1:1" }).sessions.list);
  `;
  expect(run(["--eval", program])).toBe("function\n");
});
