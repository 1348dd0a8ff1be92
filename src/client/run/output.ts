// The schema of a structured output: of a library with Standard Schema, or a plain JSON Schema.

import { checkMembers } from "../members.js";
import { invalidRequest } from "../shape.js";
import type { PromptOutput } from "../index.js";
import type { RunOutput, RunOutputSchema } from "./types.js";

/** The output of a run, as the operation takes it, and the check of the library. */
export interface ReadOutput {
  readonly wire: PromptOutput;
  /** Returns the output of the schema. Throws the problems. */
  readonly validate: (value: unknown) => Promise<unknown>;
}

interface StandardProps {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown };
}

type StandardResult = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

// Most problems in a failure.
const MAX_ISSUES = 10;

/** Reads the member `output` of a run. Throws the tagged failure `InvalidRequestError`. */
export function readOutput(output: unknown): ReadOutput | undefined {
  if (output === undefined) return undefined;
  const { schema, name, retries } = isSchema(output) ? { schema: output } : readSettings(output);
  const { json, validate } = readSchema(schema, { name, retries });
  return {
    wire: { schema: json, ...(name !== undefined && { name }), ...(retries !== undefined && { retries }) },
    validate,
  };
}

function readSettings(output: unknown): Exclude<RunOutput, RunOutputSchema> {
  if (typeof output === "object" && output !== null && "schema" in output && isSchema(output.schema)) {
    return output as Exclude<RunOutput, RunOutputSchema>;
  }
  throw refusal("a schema, or { schema, name, retries }");
}

/** True for a schema of a library, a schema of the AI SDK, and a JSON Schema of an object. */
function isSchema(value: unknown): value is RunOutputSchema {
  if (typeof value === "function") return "~standard" in value;
  if (typeof value !== "object" || value === null) return false;
  return "~standard" in value || "jsonSchema" in value || ("type" in value && value.type === "object");
}

function readSchema(schema: RunOutputSchema, settings: object) {
  if ("~standard" in schema) return readStandard(schema["~standard"] as unknown as StandardProps, settings);
  const plain = "jsonSchema" in schema ? schema.jsonSchema : schema;
  return { json: toJson(plain, settings), validate: async (value: unknown) => value };
}

function readStandard({ version, vendor, validate, jsonSchema }: StandardProps, settings: object) {
  if (version !== 1 || typeof validate !== "function") throw refusal("a schema of Standard Schema version 1");
  if (typeof jsonSchema?.input !== "function") {
    throw refusal(`a schema with a JSON Schema; the one of ${vendor} has none`);
  }
  let described: unknown;
  try {
    described = jsonSchema.input({ target: "draft-2020-12" });
  } catch (error) {
    throw refusal(`a schema with a JSON Schema; ${vendor} failed with ${String(error)}`);
  }
  return {
    json: toJson(described, settings),
    async validate(value: unknown) {
      const result = (await validate(value)) as StandardResult;
      if (result.issues === undefined) return result.value;
      throw new Error(describeIssues(result.issues));
    },
  };
}

/** A copy of a JSON Schema of an object, without `$schema`, which providers do not need. */
function toJson(schema: unknown, settings: object): Record<string, unknown> {
  checkMembers("sessions.run", { output: { ...settings, schema } }, { output: null });
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw refusal(`a schema that JSON can represent: ${String(error)}`);
  }
  if (typeof copy !== "object" || copy === null || !("type" in copy) || copy.type !== "object") {
    throw refusal('a schema of an object: its JSON Schema needs the type "object"');
  }
  const { $schema: _, ...rest } = copy as Record<string, unknown>;
  return rest;
}

function describeIssues(issues: readonly Issue[]) {
  const lines = issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => {
    const place = path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  return lines.join("; ");
}

function refusal(expected: string) {
  return invalidRequest(`output must be ${expected}`, "output");
}
