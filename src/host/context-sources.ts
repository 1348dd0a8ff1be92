// `contextSources.register` of a host.

import { checkFunction, checkCount, checkMembers, checkText, describe, invalidOption } from "./checks.js";
import { checkRegisterOptions } from "./register-options.js";
import { registration, words } from "./registration.js";
import { readSchema, SchemaError } from "./schemas.js";
import type { JsonValue, Registration } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { ContextSource, Unavailable } from "./context-source-types.js";
import type { Program, ProgramCall } from "./program.js";
import type { ReadSchema } from "./schemas.js";
import type { RegisterOptions } from "./tool-types.js";

const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 10_000;

/** The input of the function `contextSource`. */
interface ObservationInput {
  source: number;
  sessionID: string;
  agent: string;
  directory: string;
  previous?: JsonValue;
}

/** A registered source. Its members are copies, so later changes of the definition have no effect. */
interface RegisteredSource extends Pick<ContextSource, "load" | "baseline" | "update" | "removal"> {
  readonly key: string;
  readonly schema: ReadSchema | undefined;
}

/** The Context Sources that the program has registered with one host. */
export class ContextSources {
  #connection;
  #program;
  #sources: Map<number, RegisteredSource> = new Map();

  constructor(connection: NativeConnection, program: Program) {
    this.#connection = connection;
    this.#program = program;
  }

  register(given: ContextSource, options: RegisterOptions = {}): Registration {
    checkSource(given);
    const directory = checkRegisterOptions(options);
    const { key, required = false, timeoutMs = DEFAULT_TIMEOUT_MS, schema } = given;
    const source: RegisteredSource = {
      key,
      schema: schema === undefined ? undefined : readCheckingSchema(schema),
      load: given.load.bind(given),
      baseline: given.baseline.bind(given),
      ...(given.update === undefined ? {} : { update: given.update.bind(given) }),
      ...(given.removal === undefined ? {} : { removal: given.removal.bind(given) }),
    };
    this.#program.define("contextSource", (input: ObservationInput, call) => this.#observe(input, call));
    const number = this.#connection.register("contextSource", { key, required, timeoutMs }, directory);
    this.#sources.set(number, source);
    return registration(() => {
      this.#sources.delete(number);
      this.#connection.unregister("contextSource", number);
    });
  }

  async #observe({ source: number, directory, previous, ...session }: ObservationInput, { signal }: ProgramCall) {
    const source = this.#sources.get(number);
    if (source === undefined) return { result: { absent: {} }, subject: "a Context Source" };
    const subject = `the Context Source ${source.key}`;
    try {
      const loaded: unknown = await source.load({ ...session, signal, location: { directory } });
      return { result: await render(source, loaded, previous), subject };
    } catch (error) {
      if (!signal.aborted) {
        const { sessionID } = session;
        this.#connection.warn(`The Context Source ${source.key} failed: ${words(error)}`, { sessionID, directory });
      }
      throw error;
    }
  }
}

/** Reads a schema that checks values itself: the native host does not check those of a source. */
function readCheckingSchema(schema: unknown) {
  const read = readSchema("schema", schema);
  if (read.validate !== undefined) return read;
  throw invalidOption("schema", 'Option "schema" must be a schema of a library with Standard Schema');
}

/**
 * Returns the value with its texts, so that the native host can compare it without another call. It awaits them: the
 * rejection of an async function must not end the process.
 */
async function render(source: RegisteredSource, loaded: unknown, previous: JsonValue | undefined) {
  if (loaded === undefined) return { absent: {} };
  if (isUnavailable(loaded)) return { unavailable: loaded.unavailable };
  const value = toJson(await validate(source, loaded));
  const hasPrevious = previous !== undefined && (await isValid(source, previous));
  const update = hasPrevious ? await (source.update?.(previous, value) ?? source.baseline(value)) : undefined;
  return {
    present: {
      value,
      baseline: checkReturned("baseline", await source.baseline(value)),
      ...(update === undefined ? {} : { update: checkReturned("update", update) }),
      ...(source.removal === undefined ? {} : { removal: checkReturned("removal", await source.removal(value)) }),
    },
  };
}

function isUnavailable(value: unknown): value is Unavailable {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 1 && typeof (value as Partial<Unavailable>).unavailable === "string";
}

async function validate({ schema }: RegisteredSource, value: unknown) {
  return schema?.validate === undefined ? value : schema.validate(value);
}

async function isValid(source: RegisteredSource, value: JsonValue) {
  try {
    await validate(source, value);
    return true;
  } catch (error) {
    if (error instanceof SchemaError) return false;
    throw error;
  }
}

/** Returns the value as it is stored. */
function toJson(value: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`load must return a JSON value, got ${describe(value)}`);
  return JSON.parse(text) as JsonValue;
}

function checkReturned(name: string, text: unknown) {
  if (typeof text === "string") return text;
  throw new TypeError(`${name} must return a text, got ${describe(text)}`);
}

const SOURCE: Readonly<Record<keyof ContextSource, (option: string, value: unknown) => void>> = {
  key: checkText,
  required(option, value) {
    if (typeof value === "boolean") return;
    throw invalidOption(option, `Option "${option}" must be true or false, got ${describe(value)}`);
  },
  load: checkFunction,
  baseline: checkFunction,
  update: checkFunction,
  removal: checkFunction,
  schema: () => {},
  timeoutMs(option, value) {
    checkCount(option, value);
    if (Number(value) <= MAX_TIMEOUT_MS) return;
    throw invalidOption(option, `Option "${option}" must be at most ${MAX_TIMEOUT_MS}, got ${describe(value)}`);
  },
};

function checkSource(given: unknown) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidOption("source", `contextSources.register takes a Context Source, got ${describe(given)}`);
  }
  checkMembers(given as Record<string, unknown>, SOURCE, "");
  for (const name of ["key", "load", "baseline"] as const) {
    const value = (given as Partial<ContextSource>)[name];
    if (value === undefined) throw invalidOption(name, `Option "${name}" is missing`);
    SOURCE[name](name, value);
  }
}
