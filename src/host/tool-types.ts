// The public types of tools that the program registers.

import type { JsonObject, JsonValue, Registration } from "../index.js";

/**
 * A schema of a library that implements Standard Schema (https://standardschema.dev), such as zod, valibot or arktype.
 * The input schema of a tool must also have a JSON Schema: zod from 4.2 and arktype from 2.1.28 on have one; for valibot
 * use `toStandardJsonSchema` of `@valibot/to-json-schema`.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a validation: the value, or the issues of an invalid value. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** An issue of an invalid value. */
export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of the AI SDK: the result of its `jsonSchema()`, `zodSchema()` or `valibotSchema()`. */
export interface AiSdkSchema<T = unknown> {
  readonly _type: T;
  readonly jsonSchema: object;
  readonly validate?: ((value: unknown) => AiSdkValidation<T> | PromiseLike<AiSdkValidation<T>>) | undefined;
}

/** The result of a validation with a schema of the AI SDK. */
export type AiSdkValidation<T> =
  | { readonly success: true; readonly value: T }
  | { readonly success: false; readonly error: Error };

/**
 * A JSON Schema of an object. The host checks values against `type`, `properties`, `required`, `items`, `enum`, `const`,
 * `$ref` within the schema, `allOf`, `anyOf`, `oneOf`, the bounds of numbers and `additionalProperties`. It ignores other
 * keywords.
 */
export interface JsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** A schema of a tool. */
export type ToolSchema = StandardSchema | AiSdkSchema | JsonSchema;

/** The type of a valid value: the output of the schema. */
export type SchemaOutput<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? Member<Types, "output">
  : Schema extends { readonly _type: infer T }
    ? T
    : Record<string, unknown>;

/** The type of a value before the validation: the input of the schema. */
export type SchemaInput<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? Member<Types, "input">
  : Schema extends { readonly _type: infer T }
    ? T
    : JsonObject;

type Member<Types, Name extends string> = NonNullable<Types> extends { readonly [name in Name]: infer T } ? T : unknown;

/** A part of the result of a tool. `data` is base64 text or bytes. */
export type ToolPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string | Uint8Array; readonly mediaType: string }
  | {
      readonly type: "file";
      readonly data: string | Uint8Array;
      readonly mediaType: string;
      readonly filename?: string | undefined;
    };

/** The result of a tool in parts. */
export interface ToolParts {
  /** The parts for the model. */
  readonly content: readonly ToolPart[];
  /** A value for programs. The model does not read it. Default: none. */
  readonly structured?: JsonValue | undefined;
}

/**
 * The result of a tool without an output schema: a text for the model, parts, or a value. The model reads a value as
 * JSON, and programs read it in `structured` of the call.
 */
export type ToolResult = string | ToolParts | JsonValue | void;

/** The context of one call. */
export interface ToolCallContext extends ToolRecoveryContext {
  /**
   * Reports the progress of the call to connected clients, as the live event `session.next.tool.reported`. Each report
   * replaces the one before. The host sends at most one every 50 milliseconds, and stores none.
   */
  readonly progress: (value: ToolResult) => void;
}

/** The identity of one call, and the signal of a function that works for it. */
export interface ToolRecoveryContext {
  /**
   * Aborts when the call ends before the function: the session was interrupted, the host closes, or the time limit is
   * over. The host does not wait for the function and drops its result.
   */
  readonly signal: AbortSignal;
  /** The session of the call. */
  readonly sessionID: string;
  /** The assistant message that contains the call. */
  readonly messageID: string;
  /** The provider's id for the call. */
  readonly callID: string;
  /** The agent of the Provider Turn that made the call. */
  readonly agent: string;
  /** The Location of the session. */
  readonly location: { readonly directory: string };
  /**
   * The identity of the call. No other call of this database has it, so the function can use it as the key of an effect
   * that must happen once.
   */
  readonly idempotencyKey: string;
}

/** The permission that a call needs before it runs. */
export interface ToolPermission<Input> {
  /** The action, to which permission rules apply. Default: the name of the tool. */
  readonly action?: string | undefined;
  /**
   * The resources of a call, to which the rules of the action apply. An empty list or an empty text means every
   * resource: then each rule about the action counts. Default: `["*"]`.
   */
  readonly resources?: ((input: Input) => readonly string[]) | undefined;
  /** The patterns of resources that an answer of `always` permits from then on. Default: none. */
  readonly save?: readonly string[] | undefined;
}

/**
 * The effect of a call that an earlier process began: `done` with the result, or no effect, so that the host runs the
 * call, or an unknown effect, so that the call fails as interrupted.
 */
export type ToolRecovery<Result> = { readonly done: Result } | "not-started" | "unknown";

/** The value that `execute` returns. */
type ToolValue<Output> = Output extends ToolSchema ? SchemaInput<Output> : ToolResult;

/** A tool of the program. */
export interface ToolDefinition<Input extends ToolSchema, Output extends ToolSchema | undefined = undefined> {
  /** The name for calls: a letter, then letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string;
  /** The text that tells the model when and how to use the tool. */
  readonly description: string;
  /** The schema of the arguments. The model receives it as JSON Schema. Invalid arguments fail the call. */
  readonly input: Input;
  /** The schema of the result. An invalid result fails the call. Default: none. */
  readonly output?: Output;
  /** The permission that a call needs. Default: the action is the name of the tool, the resource is `"*"`. */
  readonly permission?: ToolPermission<SchemaOutput<Input>> | undefined;
  /**
   * Maximum time of a call in milliseconds, from 1 to 2147483647, without the time that it waits for a permission. Then
   * the call fails. Default: no limit.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Runs one call. If it throws, the call fails: the model reads the message of the error, and the log has its stack.
   *
   * @param input The arguments, validated by the input schema.
   * @param context The context of the call.
   */
  execute(input: SchemaOutput<Input>, context: ToolCallContext): ToolValue<Output> | Promise<ToolValue<Output>>;
  /**
   * Finds out the effect of a call that has no result because its process ended. The host asks before the next Provider
   * Turn of the session. If the answer is `"not-started"`, it runs `execute` with the same `idempotencyKey`. If the
   * function fails or takes more than 30 seconds, the effect is unknown. Default: the effect of every such call is
   * unknown.
   *
   * @param input The arguments, validated by the input schema.
   * @param context The identity of the call.
   */
  recover?(
    input: SchemaOutput<Input>,
    context: ToolRecoveryContext,
  ): ToolRecovery<ToolValue<Output>> | Promise<ToolRecovery<ToolValue<Output>>>;
}

/** Settings of a registration. */
export interface RegisterOptions {
  /** The only Location of the registration. Default: all Locations of the host. */
  readonly location?: { readonly directory: string } | undefined;
}

/** The tools of the program. */
export interface HostTools {
  /**
   * Registers a tool, for all Locations of the host or for one. Every Provider Turn from now on offers it to the model,
   * unless permission rules or the agent exclude it. It shadows a tool with the same name, also a built-in one, until the
   * registration is disposed. A call that the model makes after that fails; a running call continues.
   *
   * @throws `InvalidOptionError` with the wrong member of the definition as `option`.
   * @example
   * ```ts
   * using weather = opencode.tools.register({
   *   name: "weather",
   *   description: "Returns the current weather of a city.",
   *   input: z.object({ city: z.string() }),
   *   async execute({ city }, { signal }) {
   *     const response = await fetch(`https://weather.example/${city}`, { signal })
   *     return response.text()
   *   },
   * })
   * ```
   */
  register<const Input extends ToolSchema>(tool: ToolDefinition<Input>, options?: RegisterOptions): Registration;
  register<const Input extends ToolSchema, const Output extends ToolSchema>(
    tool: ToolDefinition<Input, Output> & { readonly output: Output },
    options?: RegisterOptions,
  ): Registration;
}
