"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.OVERRIDE = void 0;
exports.unsupported = unsupported;
exports.missing = missing;
exports.otherVersion = otherVersion;
exports.unloadable = unloadable;
exports.tooFewDescriptors = tooFewDescriptors;
exports.notStarted = notStarted;
exports.notAbsolute = notAbsolute;
const failures_js_1 = require("../client/failures.js");
const package_js_1 = require("./package.js");
const platform_js_1 = require("./platform.js");
/** The environment variable with the path of the binary to load. */
exports.OVERRIDE = "OPENCODE_EMBEDDED_ADDON";
/** The message of a dynamic linker if the glibc of the system is too old. */
const NEEDED_GLIBC = /GLIBC_([\d.]+)[^\n]* not found/;
function unsupported(platform) {
    return failure(undefined, `${package_js_1.name} has no binary for ${platform}. It has one for ${package_js_1.platforms.join(", ")}.`);
}
function missing(platform) {
    const wanted = packageOf(platform);
    return failure(wanted, `The package ${wanted} with the binary for this platform is not installed. npm leaves it out with ` +
        `--omit=optional, or with a lock file or node_modules from another platform. To install it: ${install(wanted)}. ` +
        `A bundle or an executable also takes the file ${package_js_1.name}.${platform}.node beside it.`);
}
function otherVersion(platform, found) {
    const wanted = packageOf(platform);
    return failure(wanted, `The package ${wanted} has version ${found}, but ${package_js_1.name} has version ${package_js_1.version}. ` +
        `To install the same version: ${install(wanted)}`);
}
function unloadable(platform, { file, version: packaged }, cause) {
    const wanted = packageOf(platform);
    const said = cause instanceof Error ? cause.message : String(cause);
    const [, glibc] = NEEDED_GLIBC.exec(said) ?? [];
    const reason = glibc === undefined
        ? "It may be damaged or made for another system."
        : `It needs glibc ${glibc} or newer, and this system has ${(0, platform_js_1.glibcVersion)() ?? "an older one"}.`;
    const isReinstallable = glibc === undefined && packaged !== undefined;
    const cure = isReinstallable ? ` Delete its folder, then install it again: ${install(wanted)}` : "";
    return failure(wanted, `The binary ${file} cannot be loaded: ${said.trim()}. ${reason}${cure}`);
}
function tooFewDescriptors(platform, needed, code) {
    return failure(packageOf(platform), `The binary needs ${String(needed)} file descriptors to be loaded, and the system gives this process fewer ` +
        `(${code}). Close files or raise the limit (ulimit -n), then create the host again.`);
}
function notStarted(platform, reason) {
    return failure(packageOf(platform), `The binary was loaded and cannot work: ${reason}. Let the process have more threads and file descriptors ` +
        `(ulimit -u, ulimit -n), then start it again.`);
}
function notAbsolute(given) {
    return failure(undefined, `${exports.OVERRIDE} must be the absolute path of a .node file, but it is ${given}`);
}
function packageOf(platform) {
    return package_js_1.platforms.includes(platform) ? `${package_js_1.name}-${platform}` : undefined;
}
function install(wanted) {
    return `npm install ${wanted}@${package_js_1.version}`;
}
function failure(wanted, message) {
    return (0, failures_js_1.taggedError)({ _tag: "AddonUnavailableError", ...(wanted !== undefined && { package: wanted }), message });
}
