"use strict";

const os = require("node:os");
const path = require("node:path");
const { taggedError } = require("../client/errors.js");
const { suggest } = require("./suggest.js");

/**
 * @typedef {import("../index.js").OpenCodeOptions} OpenCodeOptions
 *
 * @typedef {object} ResolvedOptions What the native host is opened with: nothing is left for it to look up.
 * @property {string} directory
 * @property {string} database An absolute path, or ":memory:".
 * @property {string} home
 * @property {string} dataDirectory
 * @property {string} configDirectory
 * @property {string} cacheDirectory
 * @property {object} config
 * @property {Record<string, string>} env
 * @property {"normal" | "full"} durability
 */

/** @type {Readonly<Record<keyof OpenCodeOptions, (option: string, value: unknown) => void>>} */
const CHECKS = {
  directory: checkPath,
  database: checkPath,
  home: checkPath,
  dataDirectory: checkPath,
  configDirectory: checkPath,
  cacheDirectory: checkPath,
  config: checkConfig,
  env: checkEnv,
  durability: checkDurability,
};

/**
 * Checks the options and fills in every default, so that the host reads nothing of this process by itself.
 * Throws the tagged failure `InvalidOptionError`.
 *
 * @param {unknown} given
 * @returns {ResolvedOptions}
 */
function resolveOptions(given) {
  const options = checkOptions(given);
  const env = copyEnv(options.env ?? process.env);
  const home = path.resolve(options.home ?? (env.HOME || os.homedir()));
  // A caller who moves the home directory means all of it; the variables of this process would lead back.
  const xdg = options.home === undefined || options.env !== undefined ? env : {};
  const dataDirectory = options.dataDirectory ?? defaultFolder(xdg.XDG_DATA_HOME, home, ".local/share");
  return {
    directory: path.resolve(options.directory ?? "."),
    database: resolveDatabase(options.database ?? path.join(dataDirectory, "embedded", "opencode.db")),
    home,
    dataDirectory: path.resolve(dataDirectory),
    configDirectory: path.resolve(options.configDirectory ?? defaultFolder(xdg.XDG_CONFIG_HOME, home, ".config")),
    cacheDirectory: path.resolve(options.cacheDirectory ?? defaultFolder(xdg.XDG_CACHE_HOME, home, ".cache")),
    config: options.config ?? {},
    env,
    durability: options.durability ?? "normal",
  };
}

/**
 * @param {string | undefined} base
 * @param {string} home
 * @param {string} fallback
 */
function defaultFolder(base, home, fallback) {
  return path.join(base || path.join(home, fallback), "opencode");
}

/** @param {string} database */
function resolveDatabase(database) {
  return database === ":memory:" ? database : path.resolve(database);
}

/**
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Record<string, string>}
 */
function copyEnv(env) {
  /** @type {Record<string, string>} */
  const copy = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) copy[name] = value;
  return copy;
}

/**
 * @param {unknown} given
 * @returns {OpenCodeOptions}
 */
function checkOptions(given) {
  if (given === undefined) return {};
  if (!isRecord(given)) throw invalid("options", `The options must be an object, got ${describe(given)}`);
  for (const [option, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, option)) throw unknownOption(option);
    if (value !== undefined) CHECKS[/** @type {keyof OpenCodeOptions} */ (option)](option, value);
  }
  return given;
}

/** @param {string} option */
function unknownOption(option) {
  const intended = suggest(option, Object.keys(CHECKS));
  const hint = intended === undefined ? "" : `. Did you mean ${JSON.stringify(intended)}?`;
  return invalid(option, `Unknown option ${JSON.stringify(option)}${hint}`);
}

/**
 * @param {string} option
 * @param {unknown} value
 */
function checkPath(option, value) {
  if (typeof value !== "string" || value === "") {
    throw invalid(option, `Option "${option}" must be a non-empty string, got ${describe(value)}`);
  }
  if (value.includes("\0")) throw invalid(option, `Option "${option}" must not contain a NUL character`);
}

/**
 * @param {string} option
 * @param {unknown} value
 */
function checkConfig(option, value) {
  if (!isRecord(value)) throw invalid(option, `Option "config" must be an object, got ${describe(value)}`);
  try {
    JSON.stringify(value);
  } catch (error) {
    const reason = /** @type {{ message: string }} */ (error).message;
    throw invalid(option, `Option "config" must be representable as JSON: ${reason}`);
  }
}

/**
 * @param {string} option
 * @param {unknown} value
 */
function checkEnv(option, value) {
  if (!isRecord(value)) throw invalid(option, `Option "env" must be an object of strings, got ${describe(value)}`);
  for (const [name, text] of Object.entries(value)) {
    if (text === undefined || typeof text === "string") continue;
    throw invalid(option, `Option "env" must hold strings, but ${JSON.stringify(name)} is ${describe(text)}`);
  }
}

/**
 * @param {string} option
 * @param {unknown} value
 */
function checkDurability(option, value) {
  if (value === "normal" || value === "full") return;
  throw invalid(option, `Option "durability" must be "normal" or "full", got ${describe(value)}`);
}

/**
 * Any object but an array, of whichever realm.
 *
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Short, and without the value of an object: it may hold secrets.
 *
 * @param {unknown} value
 */
function describe(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return value.length > 40 ? "a string" : JSON.stringify(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

/**
 * @param {string} option
 * @param {string} message
 */
function invalid(option, message) {
  return taggedError({ _tag: "InvalidOptionError", option, message });
}

module.exports = { resolveOptions };
