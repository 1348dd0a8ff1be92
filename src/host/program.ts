// Functions of the program that the native host calls.

import { encodeJson } from "../client/request.js";
import { words } from "./registration.js";
import type { ToolContent } from "../client/index.js";
import type { NativeConnection } from "./connection.js";
import type { NativeAttendance } from "./native-types.js";

/** A notice of the native host. */
export type ProgramNotice =
  | { call: { id: number; function: string; input: unknown } }
  | { permitted: number }
  | { taken: number }
  | { ended: number };

/** A permission that a call needs. */
export interface NeededPermission {
  action: string;
  resources: readonly string[];
  save: readonly string[];
}

/** A value with its form for the model. */
export interface ToolOutput {
  structured: unknown;
  content: readonly ToolContent[];
}

/** A call that runs. */
export interface ProgramCall {
  readonly signal: AbortSignal;
  /** Resolves when the user permits the action. Rejects if the call ends before. */
  permit(permission: NeededPermission): Promise<void>;
  /** Sends the progress of the call to connected clients. Throws if JSON cannot represent it. */
  report(progress: ToolOutput): void;
  /** Sends a message with a batch of events. */
  sendEvents(message: string): void;
  /** Returns a promise if many batches wait in the native host. It resolves when the host has taken some of them. */
  room(): Promise<void> | undefined;
}

/** Number of batches that the native host acknowledges together. */
const ACKNOWLEDGED = 16;

/** Maximum number of batches that wait in the native host. */
const MAX_BATCHES = 64;

/** Longest result or progress in UTF-16 code units of its JSON. It crosses the border as one text. */
const MAX_RESULT = 8 * 1024 * 1024;

/** Longest files of a result in UTF-16 code units. They do not count as its JSON, because images are made smaller. */
const MAX_FILES = 32 * 1024 * 1024;

/** Longest message and stack of a failure in UTF-16 code units. */
const MAX_FAILURE = 1024 * 1024;

/** Returns the result, which must be JSON. A late result of a named subject is logged. */
type ProgramFunction = (input: never, call: ProgramCall) => Promise<{ result: unknown; subject?: string }>;

/** The functions of one host. They are called from the first definition on. */
export class Program {
  #connection;
  #functions: Map<string, ProgramFunction> = new Map();
  #calls: Map<number, RunningCall> = new Map();
  /** Set while a function is defined. A collected attendance would stop. */
  attendance: NativeAttendance | undefined = undefined;

  constructor(connection: NativeConnection) {
    this.#connection = connection;
  }

  /** Defines the function that the native host calls by this name. */
  define(name: string, run: ProgramFunction) {
    this.#functions.set(name, run);
    this.attendance ??= this.#connection.attendCalls((notice) => this.#receive(notice));
  }

  #receive(notice: ProgramNotice) {
    if ("call" in notice) void this.#run(notice.call);
    else if ("permitted" in notice) this.#calls.get(notice.permitted)?.permitted();
    else if ("taken" in notice) this.#calls.get(notice.taken)?.taken();
    else this.#end(notice.ended);
  }

  /** A function that ignores the signal must not hold its call. */
  #end(id: number) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    call?.end();
  }

  async #run({ id, function: name, input }: { id: number; function: string; input: unknown }) {
    const call = new RunningCall((message) => this.#connection.answer(id, message));
    this.#calls.set(id, call);
    try {
      const run = this.#functions.get(name);
      if (run === undefined) throw new Error(`The program has no function ${name}`);
      const { result, subject } = await run(input as never, call);
      if (call.signal.aborted) {
        if (subject === undefined) return;
        this.#connection.warn(`A result of ${subject} came after the end of its call and is dropped`, {});
      } else {
        call.send(encodeBounded("result", result, Math.min(countFiles(result), MAX_FILES)));
      }
    } catch (error) {
      // After the end of the call a failure is the reaction to the abort.
      if (!call.signal.aborted) call.send(encodeJson({ error: describeError(error) }));
    } finally {
      this.#calls.delete(id);
    }
  }
}

interface Waiting {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

class RunningCall implements ProgramCall {
  readonly send;
  #controller = new AbortController();
  #waiting: Waiting | undefined = undefined;
  /** Number of batches that the native host has not acknowledged. */
  #batches = 0;
  #room: Waiting | undefined = undefined;

  constructor(send: (message: string) => void) {
    this.send = send;
  }

  get signal() {
    return this.#controller.signal;
  }

  permit(permission: NeededPermission) {
    return new Promise<void>((resolve, reject) => {
      this.#controller.signal.throwIfAborted();
      this.#waiting = { resolve, reject };
      this.send(encodeJson({ permission }));
    });
  }

  permitted() {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  report(progress: ToolOutput) {
    if (!this.signal.aborted) this.send(encodeBounded("progress", progress));
  }

  sendEvents(message: string) {
    if (this.signal.aborted) return;
    this.#batches += 1;
    this.send(message);
  }

  room() {
    if (this.#batches < MAX_BATCHES || this.signal.aborted) return undefined;
    return new Promise<void>((resolve, reject) => {
      this.#room = { resolve, reject };
    });
  }

  taken() {
    this.#batches -= ACKNOWLEDGED;
    this.#room?.resolve();
    this.#room = undefined;
  }

  end() {
    this.#controller.abort(new Error("The call has ended"));
    this.#waiting?.reject(this.#controller.signal.reason);
    this.#room?.reject(this.#controller.signal.reason);
  }
}

/** `files` is the length of the part that does not count. */
function encodeBounded(name: "result" | "progress", value: unknown, files = 0) {
  const text = encodeJson({ [name]: value });
  const length = text.length - files;
  if (length <= MAX_RESULT) return text;
  throw new RangeError(`The ${name} has ${length} characters as JSON, and at most ${MAX_RESULT} are possible`);
}

/** Returns the length of the files in the content of a result, in UTF-16 code units. */
function countFiles(result: unknown) {
  if (typeof result !== "object" || result === null || !("content" in result)) return 0;
  const { content } = result;
  if (!Array.isArray(content)) return 0;
  const lengths = (content as readonly Partial<ToolContent>[]).map((part) =>
    part?.type === "file" && typeof part.uri === "string" ? part.uri.length : 0,
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The message for the model and the stack for the log. A function can throw any value. */
function describeError(error: unknown) {
  try {
    const { message, stack } = error as { message?: unknown; stack?: unknown };
    return {
      message: typeof message === "string" && message !== "" ? message.slice(0, MAX_FAILURE) : words(error),
      ...(typeof stack === "string" ? { stack: stack.slice(0, MAX_FAILURE) } : {}),
    };
  } catch {
    return { message: words(error) };
  }
}
