// `hooks` of a host.

import { findWrong } from "../client/members.js";
import { checkCount, checkFunction, checkMembers, describe, invalidOption } from "./checks.js";
import { checkRegisterOptions } from "./register-options.js";
import { registration } from "./registration.js";
import { readOutput } from "./tool-output.js";
import type { Registration } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { HookContext, HookOptions, HostHooks } from "./hook-types.js";
import type { Program, ProgramCall } from "./program.js";

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 600_000;

type Moment = keyof HostHooks;
type AnyHook = (context: HookContext) => unknown;

/** The input of the function `hook`. */
interface HookInput {
  hook: number;
  input: { directory: string; sessionID: string };
}

interface RegisteredHook {
  readonly moment: Moment;
  readonly run: AnyHook;
}

/** The checks of the members that a hook can return, by the moment. */
const RESULTS: Readonly<Record<Moment, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  onPrompt: { prompt: isRecord },
  onRequest: { headers: isRecord, body: isRecord, system: isText },
  onCompaction: { prompt: isText, instructions: isText },
  onToolCall: { input: isPresent },
  onToolResult: { result: isPresent, error: isText },
};

/** The hooks that the program has registered with one host. */
export class Hooks {
  #connection;
  #program;
  #hooks: Map<number, RegisteredHook> = new Map();

  constructor(connection: NativeConnection, program: Program) {
    this.#connection = connection;
    this.#program = program;
  }

  /** The method that registers hooks of a moment. */
  at<M extends Moment>(moment: M): HostHooks[M] {
    return (hook: unknown, options: HookOptions = {}) => this.#register(moment, hook as AnyHook, options);
  }

  #register(moment: Moment, run: AnyHook, options: HookOptions): Registration {
    checkFunction("hook", run);
    const { timeoutMs = DEFAULT_TIMEOUT_MS, ...others } = checkOptions(options);
    const directory = checkRegisterOptions(others);
    this.#program.define("hook", (input: HookInput, call) => this.#run(input, call));
    const number = this.#connection.register("hook", { moment, timeoutMs }, directory);
    this.#hooks.set(number, { moment, run });
    return registration(() => {
      this.#hooks.delete(number);
      this.#connection.unregister("hook", number);
    });
  }

  async #run({ hook: number, input }: HookInput, { signal }: ProgramCall) {
    const hook = this.#hooks.get(number);
    // The native host has seen the disposal later than the start of the call.
    if (hook === undefined) return { result: null };
    const { directory, ...context } = input;
    const returned: unknown = await hook.run({ ...context, signal, location: { directory } });
    return { result: readResult(hook.moment, returned), subject: `a hook ${hook.moment}` };
  }
}

function checkOptions(options: unknown): HookOptions {
  if (!isRecord(options)) throw invalidOption("options", `The options must be an object, got ${describe(options)}`);
  const { timeoutMs } = options as HookOptions;
  if (timeoutMs !== undefined) {
    checkCount("timeoutMs", timeoutMs);
    if (timeoutMs > MAX_TIMEOUT_MS) {
      throw invalidOption("timeoutMs", `Option "timeoutMs" must be at most ${MAX_TIMEOUT_MS}, got ${timeoutMs}`);
    }
  }
  checkMembers(options, { timeoutMs: () => {}, location: () => {} }, "");
  return options;
}

/** The result of a hook in the form of the native host, or null without a change. */
function readResult(moment: Moment, returned: unknown) {
  if (returned === undefined || returned === null) return null;
  if (!isRecord(returned)) throw new TypeError(`${moment} must return an object, got ${describe(returned)}`);
  const checks = RESULTS[moment];
  const given = Object.entries(returned).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const check = checks[name];
    const names = Object.keys(checks).join(", ");
    if (check === undefined) throw new TypeError(`${moment} returned ${name}, and its result can have ${names}`);
    if (!check(value)) throw new TypeError(`${moment} returned an invalid ${name}: ${describe(value)}`);
  }
  if (given.length === 0) return null;
  const result = Object.fromEntries(given);
  if (moment === "onToolResult") return readToolResult(result);
  const wrong = findWrong(result);
  if (wrong === undefined || !("expected" in wrong)) return result;
  const { owner, expected, received } = wrong;
  throw new TypeError(`${moment} returned an invalid ${owner}: expected ${expected}, received ${received}`);
}

function readToolResult({ result, error }: Record<string, unknown>) {
  if (error === undefined) return { output: readOutput(result) };
  if (result === undefined) return { error };
  throw new TypeError("onToolResult returned a result and an error");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown) {
  return typeof value === "string";
}

function isPresent() {
  return true;
}
