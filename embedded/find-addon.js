"use strict";
// Finds the addon at run time. Bundlers must not see its name, because they would try to bundle the binary.
Object.defineProperty(exports, "__esModule", { value: true });
exports.findAddon = findAddon;
const builtins_js_1 = require("./builtins.js");
const package_js_1 = require("./package.js");
/** Finds the addon: a development build or a copy beside a bundle or executable, then the package of the platform. */
function findAddon(platform) {
    for (const place of places()) {
        const require = (0, builtins_js_1.createRequire)(place);
        const found = findCopy(require, platform) ?? findInPackage(require, platform) ?? findBesideUs(require, platform);
        if (found !== undefined)
            return found;
    }
    return undefined;
}
/**
 * The files that contain this code: this file, its bundle, the executable. Never the working directory, which may
 * hold an untrusted project.
 */
function* places() {
    if (typeof __filename === "string" && isLocation(__filename))
        yield __filename;
    const running = runningFile();
    if (isLocation(running))
        yield running;
    yield process.execPath;
}
function isLocation(file) {
    return file !== undefined && (file.startsWith("file:") || builtins_js_1.path.isAbsolute(file));
}
/**
 * The file that runs. A bundle in ESM has no `__filename`, and some bundlers replace it with the name of the source
 * file.
 */
function runningFile() {
    const { prepareStackTrace } = Error;
    // Unlike an assignment, this does not throw if the program has frozen `Error`.
    Reflect.set(Error, "prepareStackTrace", firstFile);
    try {
        const file = new Error("Where is this?").stack;
        return typeof file === "string" ? file : undefined;
    }
    finally {
        Reflect.set(Error, "prepareStackTrace", prepareStackTrace);
    }
}
function firstFile(_error, sites) {
    return sites[0]?.getFileName();
}
function findCopy(require, platform) {
    const binary = `${package_js_1.name}.${platform}.node`;
    const file = resolve(require, `./${binary}`) ?? resolve(require, `../${binary}`);
    return file === undefined ? undefined : { file, load: require };
}
function findInPackage(require, platform) {
    const file = resolve(require, `${package_js_1.name}-${platform}`);
    const manifest = resolve(require, `${package_js_1.name}-${platform}/package.json`);
    if (file === undefined || manifest === undefined)
        return undefined;
    const { version } = JSON.parse(builtins_js_1.fs.readFileSync(manifest, "utf8"));
    return { file, version, load: require };
}
/** Finds the package of the platform for a bundle if only our package may import it, as with pnpm. */
function findBesideUs(require, platform) {
    const manifest = resolve(require, `${package_js_1.name}/package.json`);
    return manifest === undefined ? undefined : findInPackage((0, builtins_js_1.createRequire)(manifest), platform);
}
function resolve(require, request) {
    try {
        return require.resolve(request);
    }
    catch {
        return undefined;
    }
}
