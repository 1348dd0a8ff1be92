import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** An OpenAPI document. Only the members that are read here have types. */
export interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
}

export interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  $ref?: string;
  contentSchema?: Schema;
  [keyword: string]: unknown;
}

/** An answer to an operation, as it was sent. */
export interface Answer {
  readonly operation: string;
  readonly status: number;
  /** Undefined without a body. */
  readonly type: string | undefined;
  /** Parsed JSON, other text as it is, a stream as the list of its events. Undefined without a body. */
  readonly body: unknown;
}

const EVENT_STREAM = "text/event-stream";

/** Validates answers against a document. */
export class Contract {
  readonly #name: string;
  readonly #operations: Map<string, Operation>;
  readonly #schemas: Record<string, Schema>;
  // The documents contain keywords of OpenAPI. Formats are not checked.
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(name: string, document: OpenApi) {
    this.#name = name;
    this.#operations = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
    this.#schemas = document.components.schemas;
    this.#ajv.addSchema({ ...document, $id: "contract" });
  }

  get operationIds() {
    return [...this.#operations.keys()];
  }

  /** The parts of an answer that this document does not allow. */
  problems(answer: Answer): string[] {
    const where = `${this.#name}: ${answer.operation} ${answer.status}`;
    const response = this.#operations.get(`v2.${answer.operation}`)?.responses[answer.status];
    if (response === undefined) return [`${where} is not declared`];
    if (answer.type === undefined) return response.content === undefined ? [] : [`${where} has no body`];
    const schema = response.content?.[answer.type]?.schema;
    if (schema === undefined) return [`${where} is not declared as ${answer.type}`];
    const values = answer.type === EVENT_STREAM ? (answer.body as unknown[]) : [answer.body];
    const validate = this.#validator(answer.type === EVENT_STREAM ? this.#eventOf(schema) : schema);
    return values.flatMap((value) => {
      if (validate(value)) return [];
      const errors = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
      return [`${where}: ${errors.join(", ")} in ${JSON.stringify(value).slice(0, 600)}`];
    });
  }

  /** The schema of the events of a stream. It is declared directly, or as frames with the events as data. */
  #eventOf(schema: Schema): Schema {
    const data = this.#resolve(schema.properties?.data ?? {});
    return data.contentSchema ?? schema;
  }

  #resolve(schema: Schema): Schema {
    const name = schema.$ref?.split("/").at(-1);
    return name === undefined ? schema : this.#schemas[name]!;
  }

  #validator(schema: Schema): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.#validators.get(key);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile(JSON.parse(key.replaceAll('"$ref":"#', '"$ref":"contract#')));
    this.#validators.set(key, validate);
    return validate;
  }
}

/** The contract for which published clients were made, with the intended differences of this package. */
export function readReference() {
  const file = path.join(__dirname, "../../crates/protocol/tests/data/openapi.json");
  const document = JSON.parse(readFileSync(file, "utf8")) as OpenApi;
  return new Contract("reference", withDifferences(document));
}

function operationsOf({ paths }: OpenApi) {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

/** The schema of an answer in JSON. */
function schemaOf(document: OpenApi, operationId: string, status: string): Schema {
  const operation = operationsOf(document).find((one) => one.operationId === operationId);
  return operation!.responses[status]!.content!["application/json"]!.schema;
}

function withDifferences(document: OpenApi): OpenApi {
  const { schemas } = document.components;
  // An empty page has two nulls. The text of the contract only knows cursors that exist.
  for (const name of ["SessionsResponse", "SessionMessagesResponse"]) {
    const cursors = Object.values(schemas[name]!.properties!.cursor!.properties!);
    for (const cursor of cursors) cursor.type = ["string", "null"];
  }
  // An unknown integration is null, which the text of the contract does not contain either.
  const integration = schemaOf(document, "v2.integration.get", "200").properties!;
  integration.data = { anyOf: [integration.data, { type: "null" }] };
  // A failure may have more details about its cause.
  schemas.SessionErrorUnknown!.properties!.cause = {};
  // Any operation may answer that it is unavailable, or that it failed unexpectedly.
  for (const { responses } of operationsOf(document)) {
    const unavailable = { $ref: "#/components/schemas/ServiceUnavailableError" };
    responses["503"] ??= { content: { "application/json": { schema: unavailable } } };
  }
  return document;
}
