"use strict";
// Loads the addon. Only text crosses its border. JavaScript parses it, so values and errors belong to the realm of the
// caller.
var __createBinding = (this && this.__createBinding) || (Object.create ? (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    var desc = Object.getOwnPropertyDescriptor(m, k);
    if (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) {
      desc = { enumerable: true, get: function() { return m[k]; } };
    }
    Object.defineProperty(o, k2, desc);
}) : (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    o[k2] = m[k];
}));
var __setModuleDefault = (this && this.__setModuleDefault) || (Object.create ? (function(o, v) {
    Object.defineProperty(o, "default", { enumerable: true, value: v });
}) : function(o, v) {
    o["default"] = v;
});
var __importStar = (this && this.__importStar) || (function () {
    var ownKeys = function(o) {
        ownKeys = Object.getOwnPropertyNames || function (o) {
            var ar = [];
            for (var k in o) if (Object.prototype.hasOwnProperty.call(o, k)) ar[ar.length] = k;
            return ar;
        };
        return ownKeys(o);
    };
    return function (mod) {
        if (mod && mod.__esModule) return mod;
        var result = {};
        if (mod != null) for (var k = ownKeys(mod), i = 0; i < k.length; i++) if (k[i] !== "default") __createBinding(result, mod, k[i]);
        __setModuleDefault(result, mod);
        return result;
    };
})();
Object.defineProperty(exports, "__esModule", { value: true });
exports.loadAddon = loadAddon;
const _inlined_addon_1 = require("#inlined-addon");
const failures = __importStar(require("./addon-failures.js"));
const builtins_js_1 = require("./builtins.js");
const find_addon_js_1 = require("./find-addon.js");
const package_js_1 = require("./package.js");
const platform_js_1 = require("./platform.js");
/** Upper bound for the file descriptors that loading takes. */
const NEEDED_DESCRIPTORS = 16;
let loaded;
/**
 * Loads the addon of this platform on first use: a program that never opens a host needs none. Throws the tagged
 * failure `AddonUnavailableError`.
 */
function loadAddon() {
    loaded ??= loadStarted((0, platform_js_1.describePlatform)());
    return loaded;
}
function loadStarted(platform) {
    requireDescriptors(platform);
    const addon = load(platform);
    const reason = addon.notStarted();
    if (reason !== null)
        throw failures.notStarted(platform, reason);
    return addon;
}
/**
 * Checks that enough descriptors are available. If loading fails without a descriptor, this process can never load
 * the addon.
 */
function requireDescriptors(platform) {
    const opened = [];
    try {
        while (opened.length < NEEDED_DESCRIPTORS)
            opened.push(builtins_js_1.fs.openSync(builtins_js_1.os.devNull, "r"));
    }
    catch (error) {
        const { code } = error;
        // A program may be allowed to load addons but not to read this file.
        if (code === "EMFILE" || code === "ENFILE")
            throw failures.tooFewDescriptors(platform, NEEDED_DESCRIPTORS, code);
    }
    finally {
        for (const descriptor of opened)
            builtins_js_1.fs.closeSync(descriptor);
    }
}
function load(platform) {
    const given = process.env[failures.OVERRIDE];
    if (given)
        return loadGiven(platform, given);
    if (!package_js_1.platforms.includes(platform))
        throw failures.unsupported(platform);
    const inlined = (0, _inlined_addon_1.loadInlinedAddon)(platform);
    if (inlined !== undefined) {
        requireSameVersion(platform, inlined.version);
        return inlined.addon;
    }
    const found = (0, find_addon_js_1.findAddon)(platform);
    if (found === undefined)
        throw failures.missing(platform);
    if (found.version !== undefined)
        requireSameVersion(platform, found.version);
    return loadFile(platform, found);
}
function loadGiven(platform, file) {
    if (!builtins_js_1.path.isAbsolute(file))
        throw failures.notAbsolute(file);
    return loadFile(platform, { file, load: (0, builtins_js_1.createRequire)(file) });
}
function loadFile(platform, found) {
    try {
        return found.load(found.file);
    }
    catch (error) {
        throw failures.unloadable(platform, found, error);
    }
}
function requireSameVersion(platform, found) {
    if (found !== package_js_1.version)
        throw failures.otherVersion(platform, found);
}
