import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** An OpenAPI document, of which only what is read here is typed. */
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

/** An answer to an operation as it stood on the wire. */
export interface Answer {
  readonly operation: string;
  readonly status: number;
  /** Undefined without a body. */
  readonly type: string | undefined;
  /** JSON parsed, anything else as text, a stream as the list of its events; undefined without a body. */
  readonly body: unknown;
}

const EVENT_STREAM = "text/event-stream";

/** What a document says about answers. */
export class Contract {
  readonly #name: string;
  readonly #operations: Map<string, Operation>;
  readonly #schemas: Record<string, Schema>;
  // Documents have keywords of OpenAPI, and formats mean nothing here.
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

  /** Everything about an answer that this document does not allow. */
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

  /** A stream is declared as its events, or as the frames whose data they are. */
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

/** The contract that published clients were made for, with what was meant to be otherwise here. */
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
  // An empty page says so with two nulls, although the text of the contract only knows cursors that are there.
  for (const name of ["SessionsResponse", "SessionMessagesResponse"]) {
    const cursors = Object.values(schemas[name]!.properties!.cursor!.properties!);
    for (const cursor of cursors) cursor.type = ["string", "null"];
  }
  // An integration that nobody knows is null, which the text of the contract does not say either.
  const integration = schemaOf(document, "v2.integration.get", "200").properties!;
  integration.data = { anyOf: [integration.data, { type: "null" }] };
  // A failure may say more about its cause.
  schemas.SessionErrorUnknown!.properties!.cause = {};
  // What is not there yet, and what failed unexpectedly, is told by any operation.
  for (const { responses } of operationsOf(document)) {
    const unavailable = { $ref: "#/components/schemas/ServiceUnavailableError" };
    responses["503"] ??= { content: { "application/json": { schema: unavailable } } };
  }
  return document;
}
