// Schemas of tools: of libraries, of the AI SDK, or plain JSON Schemas.

import { isTagged } from "../client/errors.js";
import { checkValues, describe, invalidOption } from "./checks.js";
import { words } from "./registration.js";
import type { AiSdkSchema, StandardSchema, StandardSchemaIssue } from "./tool-types.js";

/** A schema, as the host uses it. */
export interface ReadSchema {
  /** Returns the JSON Schema of an object, or undefined if the library provides none. */
  readonly toJsonSchema: () => object | undefined;
  /** Returns the valid value, or throws a SchemaError. Undefined if the native host checks values. */
  readonly validate: ((value: unknown) => Promise<unknown>) | undefined;
}

/** An invalid value. */
export class SchemaError extends Error {}

/** A standard schema with a JSON Schema, which is an extension of Standard Schema. */
interface WithJsonSchema {
  readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown };
}

/**
 * Reads a schema. Throws the tagged failure `InvalidOptionError` for any other value.
 *
 * @param option The name of the option in failures.
 */
export function readSchema(option: string, schema: unknown): ReadSchema {
  if ((typeof schema === "object" && schema !== null) || typeof schema === "function") {
    if ("~standard" in schema) return readStandard(option, schema as StandardSchema);
    if ("jsonSchema" in schema) return readAiSdk(option, schema as AiSdkSchema);
    if (typeof schema === "object" && "type" in schema && schema.type === "object") {
      const jsonSchema = toJson(option, schema);
      return { toJsonSchema: () => jsonSchema, validate: undefined };
    }
  }
  const forms =
    'a schema of a library with Standard Schema, a schema of the AI SDK, or a JSON Schema with type "object"';
  throw invalidOption(option, `Option "${option}" must be ${forms}, got ${describe(schema)}`);
}

function readStandard(option: string, schema: StandardSchema): ReadSchema {
  const standard = schema["~standard"] as StandardSchema["~standard"] & WithJsonSchema;
  if (standard?.version !== 1 || typeof standard.validate !== "function") {
    throw invalidOption(option, `Option "${option}" must be a schema of Standard Schema version 1`);
  }
  return {
    toJsonSchema: () => readJsonSchema(option, standard),
    async validate(value) {
      const result = await standard.validate(value);
      if (result.issues === undefined) return result.value;
      throw new SchemaError(describeIssues(result.issues));
    },
  };
}

function readJsonSchema(option: string, { vendor, jsonSchema }: StandardSchema["~standard"] & WithJsonSchema) {
  if (typeof jsonSchema?.input !== "function") return undefined;
  try {
    return toJson(option, jsonSchema.input({ target: "draft-2020-12" }));
  } catch (error) {
    if (isTagged(error, "InvalidOptionError")) throw error;
    throw invalidOption(option, `Option "${option}" has no JSON Schema: ${vendor} failed with ${words(error)}`);
  }
}

function readAiSdk(option: string, schema: AiSdkSchema): ReadSchema {
  const { validate } = schema;
  return {
    toJsonSchema: () => toJson(option, schema.jsonSchema),
    validate:
      typeof validate !== "function"
        ? undefined
        : async (value) => {
            const result = await validate(value);
            if (result.success) return result.value;
            throw new SchemaError(words(result.error.message));
          },
  };
}

/** Returns a copy of a JSON Schema of an object, without `$schema`, which providers do not need. */
function toJson(option: string, schema: unknown): object {
  const copy = copyJson(option, schema);
  if (typeof copy === "object" && copy !== null && "type" in copy && copy.type === "object") {
    const { $schema: _, ...rest } = copy as Record<string, unknown>;
    return rest;
  }
  throw invalidOption(option, `Option "${option}" must describe an object: its JSON Schema needs the type "object"`);
}

function copyJson(option: string, schema: unknown): unknown {
  try {
    // A bound that is NaN would be null, so the schema would accept more.
    checkValues(option, schema);
    return JSON.parse(JSON.stringify(schema)) as unknown;
  } catch (error) {
    if (isTagged(error, "InvalidOptionError")) throw error;
    throw invalidOption(option, `Option "${option}" must have a JSON Schema that JSON can represent: ${words(error)}`);
  }
}

/** Most issues in the message to the model. */
const MAX_ISSUES = 10;

function describeIssues(issues: readonly StandardSchemaIssue[]) {
  const lines = issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  const rest = issues.length - lines.length;
  return rest > 0 ? `${lines.join("; ")}; and ${rest} more` : lines.join("; ");
}
