import type { Input, Operation, OperationOf } from "./operation.js";
import type { RequestOptions } from "./types.js";

type Options = RequestOptions | undefined;

/** Separates the query from the options of a call whose input is lines. */
export function separateQuery(operation: Operation, options: Options): [Input, Options] {
  if (typeof options !== "object" || options === null || "aborted" in options) return [{}, options];
  const query: Record<string, unknown> = {};
  const own: Record<string, unknown> = { ...options, signal: options.signal, headers: options.headers };
  for (const name of operation.query ?? []) {
    query[name] = own[name];
    delete own[name];
  }
  return [query, own];
}

/**
 * Separates the options of a call from its input, if they are in one object. A stream that needs no input takes
 * `(options)`, `(input, options)` and `(input with options)`. The second parameter takes precedence.
 */
export function separate<I extends object>(
  operation: OperationOf<I>,
  input: (I & RequestOptions) | undefined,
  options: Options,
): [I | undefined, Options] {
  try {
    if (typeof input !== "object" || input === null) return [input, options];
    const own = Object.keys(input).filter((name) => input[name as keyof typeof input] !== undefined);
    const names: readonly string[] = operation.query ?? [];
    const isOptions = "aborted" in input || (own.includes("timeout") && !own.some((name) => names.includes(name)));
    // The check of the options explains what is wrong with these.
    if (isOptions && options === undefined) return [undefined, input];
    // An `AbortController` has its signal in its prototype.
    if (!("signal" in input) && !("headers" in input)) return [input, options];
    const { signal, headers, ...rest } = input;
    return [rest as unknown as I, { signal, headers, ...options }];
  } catch {
    // A getter or a proxy of the caller has thrown. The check of the input reports it.
    return [input, options];
  }
}
