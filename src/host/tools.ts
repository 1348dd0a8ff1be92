// `tools.register` of a host.

import { checkCount, checkFunction, checkMembers, checkText, checkTexts, describe, invalidOption } from "./checks.js";
import { Coalesced } from "./coalesced.js";
import { checkRegisterOptions } from "./register-options.js";
import { isThenable, registration, words } from "./registration.js";
import { readSchema, SchemaError } from "./schemas.js";
import { checkRepresentable, readOutput } from "./tool-output.js";
import type { Registration } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { Program, ProgramCall } from "./program.js";
import type { ReadSchema } from "./schemas.js";
import type {
  RegisterOptions,
  ToolCallContext,
  ToolDefinition,
  ToolPermission,
  ToolRecoveryContext,
  ToolResult,
  ToolSchema,
} from "./tool-types.js";

/** Time between two reports of the progress of a call. */
const PROGRESS_INTERVAL_MS = 50;

/** Longest timer of JavaScript. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** The input of the function `tool`. */
interface ToolInput {
  tool: number;
  input: unknown;
  sessionID: string;
  messageID: string;
  callID: string;
  agent: string;
  directory: string;
  idempotencyKey: string;
}

/** A registered tool. Its members are copies, so later changes of the definition have no effect. */
interface RegisteredTool {
  readonly name: string;
  readonly input: ReadSchema;
  readonly output: ReadSchema | undefined;
  readonly permission: ToolPermission<unknown>;
  readonly execute: (input: unknown, context: ToolCallContext) => unknown;
  readonly recover: ((input: unknown, context: ToolRecoveryContext) => unknown) | undefined;
}

/** The tools that the program has registered with one host. */
export class Tools {
  #connection;
  #program;
  #tools: Map<number, RegisteredTool> = new Map();

  constructor(connection: NativeConnection, program: Program) {
    this.#connection = connection;
    this.#program = program;
  }

  register(given: ToolDefinition<ToolSchema, ToolSchema | undefined>, options: RegisterOptions = {}): Registration {
    const definition = checkDefinition(given);
    const directory = checkRegisterOptions(options);
    const tool = readTool(definition);
    const inputSchema = tool.input.toJsonSchema();
    if (inputSchema === undefined) {
      const hint = "use a version of the library that implements Standard JSON Schema, or its converter";
      throw invalidOption("input", `Option "input" has no JSON Schema, which the model needs: ${hint}`);
    }
    this.#program.define("tool", (input: ToolInput, call) => this.#run(input, call));
    this.#program.define("recoverTool", (input: ToolInput, call) => this.#recover(input, call));
    const number = this.#connection.register(
      "tool",
      {
        name: tool.name,
        description: definition.description,
        inputSchema,
        checksInput: tool.input.validate === undefined,
        ...(tool.output?.validate === undefined && tool.output !== undefined
          ? { outputSchema: tool.output.toJsonSchema() }
          : {}),
        action: tool.permission.action,
        ...(hasStaticPermission(tool) ? { permission: { resources: ["*"], save: tool.permission.save ?? [] } } : {}),
        recovers: tool.recover !== undefined,
        timeoutMs: definition.timeoutMs,
      },
      directory,
    );
    this.#tools.set(number, tool);
    return registration(() => {
      this.#tools.delete(number);
      this.#connection.unregister("tool", number);
    });
  }

  async #recover({ tool: number, input: given, directory, ...ids }: ToolInput, call: ProgramCall) {
    const tool = this.#tools.get(number);
    if (tool?.recover === undefined) return { result: "unknown" satisfies Effect };
    const input = await validate(tool.input, given, "Invalid tool input");
    const found = await tool.recover(input, { ...ids, signal: call.signal, location: { directory } });
    return { result: await readEffect(tool, found), subject: `recover of the tool ${tool.name}` };
  }

  async #run({ tool: number, input: given, directory, ...ids }: ToolInput, call: ProgramCall) {
    const tool = this.#tools.get(number);
    // The native host has seen the disposal later than the start of the call.
    if (tool === undefined) throw new Error("The tool is not registered any more");
    const input = await validate(tool.input, given, "Invalid tool input");
    if (!hasStaticPermission(tool)) await call.permit(await neededPermission(tool, input));
    const progress = new Coalesced((value: ToolResult) => this.#report(tool, call, value), PROGRESS_INTERVAL_MS);
    try {
      const context: ToolCallContext = {
        ...ids,
        signal: call.signal,
        location: { directory },
        progress: (value) => {
          if (isThenable(value)) this.#dropPromise(tool, value);
          else progress.push(value);
        },
      };
      const value = await tool.execute(input, context);
      return { result: await readResult(tool, value), subject: `the tool ${tool.name}` };
    } finally {
      progress.end();
    }
  }

  /** A promise has no value yet, and its rejection must not end the process. */
  #dropPromise(tool: RegisteredTool, value: PromiseLike<unknown>) {
    value.then(undefined, () => {});
    this.#connection.warn(`A progress of the tool ${tool.name} is dropped: it is a promise, so await it first`, {});
  }

  /** A progress that cannot be sent must not fail the call, nor the process, because a timer sends it. */
  #report(tool: RegisteredTool, call: ProgramCall, value: ToolResult) {
    try {
      call.report(readOutput(value));
    } catch (error) {
      this.#connection.warn(`A progress of the tool ${tool.name} is dropped: ${words(error)}`, {});
    }
  }
}

/** The effect of a call, as the native host reads it. */
type Effect = { done: unknown } | "not-started" | "unknown";

async function validate(schema: ReadSchema, value: unknown, problem: string) {
  try {
    return schema.validate === undefined ? value : await schema.validate(value);
  } catch (error) {
    if (error instanceof SchemaError) throw new Error(`${problem}: ${error.message}`, { cause: error });
    throw error;
  }
}

async function readEffect(tool: RegisteredTool, found: unknown): Promise<Effect> {
  if (found === "not-started" || found === "unknown") return found;
  if (typeof found === "object" && found !== null && "done" in found) {
    return { done: await readResult(tool, found.done) };
  }
  throw new TypeError(
    `recover of the tool ${tool.name} must return { done }, "not-started" or "unknown", got ${describe(found)}`,
  );
}

async function readResult({ output }: RegisteredTool, value: unknown) {
  return output === undefined ? readOutput(value) : readValue(output, value);
}

/** Returns a value with an output schema. The model reads it as JSON. */
async function readValue(schema: ReadSchema, value: unknown) {
  const valid = await validate(schema, value, "Tool returned an invalid value for its output schema");
  return {
    structured: checkRepresentable(valid),
    content: typeof valid === "string" ? [{ type: "text", text: valid }] : [],
  };
}

/**
 * True if the native host requests the permission itself, which saves a round trip. It knows the permission, and it has
 * checked the input.
 */
function hasStaticPermission({ input, permission }: RegisteredTool) {
  return input.validate === undefined && permission.resources === undefined;
}

/** It awaits the resources: the rejection of an async function must not end the process. */
async function neededPermission({ name, permission }: RegisteredTool, input: unknown) {
  // Without a function the tool has one resource. A function that names none means every resource.
  const given: unknown = permission.resources === undefined ? [EVERY] : ((await permission.resources(input)) ?? []);
  // A copy has no holes, and nothing changes it after the check.
  const resources: unknown[] = Array.isArray(given) ? Array.from<unknown>(given) : [undefined];
  if (!areTexts(resources)) {
    throw new TypeError(`permission.resources of the tool ${name} must return an array of strings`);
  }
  return {
    action: permission.action ?? name,
    resources: permission.resources === undefined ? [EVERY] : resources.map(named),
    save: permission.save ?? [],
  };
}

/** `*` means every resource, as an empty text does. */
function named(resource: string) {
  return resource === EVERY ? "" : resource;
}

const EVERY = "*";

function areTexts(values: unknown[]): values is string[] {
  return values.every((it) => typeof it === "string");
}

const DEFINITION: Readonly<Record<keyof ToolDefinition<ToolSchema>, (option: string, value: unknown) => void>> = {
  name: checkText,
  description: checkText,
  input: () => {},
  output: () => {},
  permission: checkPermission,
  timeoutMs: checkTimeout,
  execute: checkFunction,
  recover: checkFunction,
};

const PERMISSION: Readonly<Record<keyof ToolPermission<unknown>, (option: string, value: unknown) => void>> = {
  action: checkText,
  resources: checkFunction,
  save: checkTexts,
};

function checkDefinition(given: unknown) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidOption("tool", `tools.register takes the definition of a tool, got ${describe(given)}`);
  }
  checkMembers(given as Record<string, unknown>, DEFINITION, "");
  const definition = given as ToolDefinition<ToolSchema, ToolSchema | undefined>;
  for (const name of ["name", "description", "input", "execute"] as const) {
    if (definition[name] === undefined) throw invalidOption(name, `Option "${name}" is missing`);
    DEFINITION[name](name, definition[name]);
  }
  return definition;
}

function readTool(definition: ToolDefinition<ToolSchema, ToolSchema | undefined>): RegisteredTool {
  const { name, permission = {} } = definition;
  const input = readSchema("input", definition.input);
  const { action, resources, save } = permission;
  const execute = definition.execute as RegisteredTool["execute"];
  const recover = definition.recover as RegisteredTool["recover"];
  return {
    name,
    input,
    output: definition.output === undefined ? undefined : readSchema("output", definition.output),
    permission: { action, resources: resources as ToolPermission<unknown>["resources"], save: save && [...save] },
    execute: (value, context) => execute.call(definition, value, context),
    recover: recover && ((value, context) => recover.call(definition, value, context)),
  };
}

function checkPermission(option: string, value: unknown) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidOption(option, `Option "${option}" must be an object, got ${describe(value)}`);
  }
  checkMembers(value as Record<string, unknown>, PERMISSION, `${option}.`);
}

function checkTimeout(option: string, value: unknown) {
  checkCount(option, value);
  if (Number(value) <= MAX_TIMEOUT_MS) return;
  throw invalidOption(option, `Option "${option}" must be at most ${MAX_TIMEOUT_MS}, got ${describe(value)}`);
}
