import { onAbort } from "./abort.js";
import { ClientError } from "./errors.js";
import { transportError } from "./failures.js";
import { LINES_TYPE, LineParser, joinLines } from "./lines.js";
import { checkRequestOptions } from "./members.js";
import { createPages } from "./pages.js";
import { ParsedBody } from "./parsed-body.js";
import { createHeaders, encodeRequest, mergeHeaders } from "./request.js";
import { expectNothing, readBytes, readElements, readPage, readValue } from "./response.js";
import { EventParser } from "./sse.js";
import { separateQuery } from "./separate.js";
import { createStream } from "./stream.js";
import type { HeaderList, Parser, TextStream, Transport, TransportResponse } from "./internal.js";
import type { Operation, OperationOf } from "./operation.js";
import type { HeadersInput, Lines, Page, PagePromise, RequestOptions } from "./types.js";

type Options = RequestOptions | undefined;

/** Sends operations and reads their answers, one method for each kind of answer. */
export interface Methods {
  value<I extends object, T>(operation: OperationOf<I>, input: I | undefined, options: Options): Promise<T>;
  /** Sends lines as the body. */
  upload<T>(operation: Operation, lines: Lines, options: Options): Promise<T>;
  nothing<I extends object>(operation: OperationOf<I>, input: I | undefined, options: Options): Promise<void>;
  bytes<I extends object>(operation: OperationOf<I>, input: I | undefined, options: Options): Promise<Uint8Array>;
  page<I extends object, P extends Page<unknown>>(
    operation: OperationOf<I>,
    input: I | undefined,
    options: Options,
  ): PagePromise<P>;
  events<I extends object, T>(operation: OperationOf<I>, input: I | undefined, options: Options): AsyncIterable<T>;
  lines<I extends object>(operation: OperationOf<I>, input: I | undefined, options: Options): AsyncIterable<string>;
}

/** The request of one call without its body of lines, and its options. */
interface Call {
  readonly operation: Operation;
  readonly input: unknown;
  readonly options: Options;
}

/** The methods of a client over one transport. `headers` are sent with each request. */
export function connect(transport: Transport, headers?: HeadersInput): Methods {
  const common = createHeaders(headers);

  // The request is sent within the call, before the caller continues: two calls in a row arrive in that order.
  function request<T>(call: Call, read: (response: TransportResponse) => Promise<T>): Promise<T> {
    const start = async (signal: AbortSignal | undefined) => read(await send(transport, common, call, signal));
    return abortable(call.options?.signal ?? undefined, start);
  }

  function iterate<T>(call: Call, createParser: () => Parser<T>, contentType: string): AsyncIterable<T> {
    const connectBody = async (signal: AbortSignal) => {
      const response = await send(transport, common, call, signal);
      const body: TextStream = await readElements(call.operation, response, contentType);
      return new ParsedBody(body, createParser());
    };
    return createStream(connectBody, call.options?.signal ?? undefined);
  }

  return {
    value: (operation, input, options) =>
      request({ operation, input: input ?? {}, options }, (response) => readValue(operation, response)),
    upload: (operation, lines, options) =>
      request({ operation, input: lines, options }, (response) => readValue(operation, response)),
    nothing: (operation, input, options) =>
      request({ operation, input: input ?? {}, options }, (response) => expectNothing(operation, response)),
    bytes: (operation, input, options) =>
      request({ operation, input: input ?? {}, options }, (response) => readBytes(operation, response)),
    page: (operation, input, options) =>
      createPages(operation, input ?? {}, (given) =>
        request({ operation, input: given, options }, (response) => readPage(operation, response)),
      ),
    events: (operation, input, options) =>
      iterate({ operation, input: input ?? {}, options }, () => new EventParser(), "text/event-stream"),
    lines: (operation, input, options) =>
      iterate({ operation, input: input ?? {}, options }, () => new LineParser(), LINES_TYPE),
  };
}

async function send(
  transport: Transport,
  common: HeaderList,
  { operation, input, options: given }: Call,
  signal: AbortSignal | undefined,
) {
  const isLines = operation.payload === "lines";
  const [query, options] = isLines ? separateQuery(operation, given) : [input, given];
  checkRequestOptions(operation.name, options);
  const { method, path, ...encoded } = encodeRequest(operation, query);
  const body = isLines ? await joinLines(input, signal) : encoded.body;
  const contentType = body === undefined ? undefined : isLines ? LINES_TYPE : "application/json";
  try {
    const headers = mergeHeaders(common, operation.headers, options?.headers, contentType);
    return await transport({ method, path, headers, body, signal });
  } catch (error) {
    throw transportError(error);
  }
}

/**
 * Runs `start` with a signal of its own, so that no transport puts listeners on the caller's. An abort settles
 * the call at once, even if the transport does not.
 */
function abortable<T>(
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return start(undefined);
  if (signal.aborted) return Promise.reject(new ClientError("Transport", { cause: signal.reason }));
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const release = onAbort(signal, () => {
      reject(new ClientError("Transport", { cause: signal.reason }));
      controller.abort(signal.reason);
    });
    start(controller.signal).finally(release).then(resolve, reject);
  });
}
