"use strict";

const { words } = require("./registration.js");

/**
 * @typedef {import("../index.js").LogEntry} LogEntry
 * @typedef {import("../index.js").LogOptions} LogOptions
 * @typedef {import("../index.js").LogLevel | "off"} Level
 * @typedef {{ level: Level, targets: Readonly<Record<string, Level>>, sink: ((entry: LogEntry) => void) | undefined }} ResolvedLog
 */

/** Milliseconds in which the default sink says the same thing once. */
const PAUSE = 60_000;

/** Process warnings of one host in that time. */
const MOST_WARNINGS = 30;

/**
 * @param {import("../index.js").OpenCodeOptions["log"]} log
 * @returns {ResolvedLog}
 */
function resolveLog(log = {}) {
  const { level, targets = {}, sink } = readLog(log);
  /** @type {Record<string, Level>} */
  const wanted = {};
  for (const [target, given] of Object.entries(targets)) if (given !== undefined) wanted[target] = given;
  return { level: level ?? "warn", targets: wanted, sink };
}

/**
 * @param {NonNullable<import("../index.js").OpenCodeOptions["log"]>} log
 * @returns {LogOptions}
 */
function readLog(log) {
  if (typeof log === "function") return { sink: log };
  return typeof log === "string" ? { level: log } : log;
}

/**
 * Takes the batches of the native log. Null where nothing is wanted.
 *
 * @param {ResolvedLog} log
 * @returns {((entries: string) => void) | null}
 */
function createSink({ level, targets, sink }) {
  if ([level, ...Object.values(targets)].every((wanted) => wanted === "off")) return null;
  const give = sink === undefined ? warnings() : guarded(sink);
  return (entries) => {
    for (const entry of JSON.parse(entries)) give(entry);
  };
}

/**
 * A sink that fails loses the entry and nothing else. The process is warned of the first failure.
 *
 * @param {(entry: LogEntry) => unknown} sink
 */
function guarded(sink) {
  let hasFailed = false;
  /** @param {unknown} error */
  const fail = (error) => {
    if (hasFailed) return;
    hasFailed = true;
    process.emitWarning(`The function of the option "log" failed and loses entries: ${words(error)}`, {
      type: "OpenCodeWarning",
      code: "OPENCODE_LOG_SINK",
    });
  };
  /** @param {LogEntry} entry */
  return (entry) => {
    try {
      const given = sink(entry);
      if (given instanceof Promise) given.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

/** The default sink: process warnings, of which a loop makes few. */
function warnings() {
  /** @type {Set<string>} */
  let said = new Set();
  let began = 0;
  let withheld = 0;
  /** @param {LogEntry} entry */
  return (entry) => {
    if (entry.time - began >= PAUSE || entry.time < began) {
      if (withheld > 0)
        warn(`${withheld} warnings of OpenCode were withheld: they said the same, or were too many`, "");
      [said, began, withheld] = [new Set(), entry.time, 0];
    }
    const { message, detail } = shown(entry);
    const key = `${entry.target}\n${message}\n${detail}`;
    if (said.has(key) || said.size >= MOST_WARNINGS) {
      withheld += 1;
      return;
    }
    said.add(key);
    warn(message, detail);
  };
}

/** @param {LogEntry} entry */
function shown({ level, target, message, fields, sessionID, location }) {
  const about = { ...fields, ...(sessionID && { sessionID }), ...(location && { directory: location.directory }) };
  const values = Object.entries(about).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return { message, detail: [`${level} ${target}`, ...values].join(" ") };
}

/**
 * @param {string} message
 * @param {string} detail
 */
function warn(message, detail) {
  process.emitWarning(message, { type: "OpenCodeWarning", code: "OPENCODE_LOG", ...(detail !== "" && { detail }) });
}

module.exports = { createSink, resolveLog };
