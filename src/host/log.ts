import { isThenable, words } from "./registration.js";
import type { LogEntry, LogLevel, LogOptions, OpenCodeOptions } from "../index.js";

type Level = LogLevel | "off";

export type ResolvedLog = {
  level: Level;
  targets: Readonly<Record<string, Level>>;
  sink: ((entry: LogEntry) => void) | undefined;
};

/** Period in milliseconds in which the default sink prints the same message once. */
const PAUSE = 60_000;

/** Process warnings of one host in this period. */
const MOST_WARNINGS = 30;

export function resolveLog(log: OpenCodeOptions["log"] = {}): ResolvedLog {
  const { level, targets = {}, sink } = readLog(log);
  const wanted: Record<string, Level> = {};
  for (const [target, given] of Object.entries(targets)) if (given !== undefined) wanted[target] = given;
  return { level: level ?? "warn", targets: wanted, sink };
}

function readLog(log: NonNullable<OpenCodeOptions["log"]>): LogOptions {
  if (typeof log === "function") return { sink: log };
  return typeof log === "string" ? { level: log } : log;
}

/** Takes the batches of the native log. Null without a log. */
export function createSink({ level, targets, sink }: ResolvedLog): ((entries: string) => void) | null {
  if ([level, ...Object.values(targets)].every((wanted) => wanted === "off")) return null;
  const give = sink === undefined ? warnings() : guarded(sink);
  return (entries) => {
    for (const entry of JSON.parse(entries)) give(entry);
  };
}

/** If a sink fails, it loses this entry only. The process gets a warning about the first failure. */
function guarded(sink: (entry: LogEntry) => unknown) {
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (hasFailed) return;
    hasFailed = true;
    process.emitWarning(`The function of the option "log" failed and loses entries: ${words(error)}`, {
      type: "OpenCodeWarning",
      code: "OPENCODE_LOG_SINK",
    });
  };
  return (entry: LogEntry) => {
    try {
      const given = sink(entry);
      if (isThenable(given)) given.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
}

/** The default sink. It prints process warnings, with a limit for repeated ones. */
function warnings() {
  let said: Set<string> = new Set();
  let began = 0;
  let withheld = 0;
  return (entry: LogEntry) => {
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

function shown({ level, target, message, fields, sessionID, location }: LogEntry) {
  const about = { ...fields, ...(sessionID && { sessionID }), ...(location && { directory: location.directory }) };
  const values = Object.entries(about).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return { message, detail: [`${level} ${target}`, ...values].join(" ") };
}

function warn(message: string, detail: string) {
  process.emitWarning(message, { type: "OpenCodeWarning", code: "OPENCODE_LOG", ...(detail !== "" && { detail }) });
}
