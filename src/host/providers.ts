// `providers.register` of a host.

import { checkFunction, checkMembers, checkText, describe, invalidOption } from "./checks.js";
import { EventBatches } from "./model-events.js";
import { checkRegisterOptions } from "./register-options.js";
import { registration } from "./registration.js";
import type { ModelEvent, ModelProvider, LanguageModelRequest, RegisterOptions, Registration } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { Program, ProgramCall } from "./program.js";

/** The input of the function `model`. */
interface ModelInput {
  provider: number;
  request: LanguageModelRequest;
}

/** The providers that the program has registered with one host. */
export class Providers {
  #connection;
  #program;
  #providers: Map<number, Pick<ModelProvider, "id" | "stream">> = new Map();

  constructor(connection: NativeConnection, program: Program) {
    this.#connection = connection;
    this.#program = program;
  }

  register(given: ModelProvider, options: RegisterOptions = {}): Registration {
    checkProvider(given);
    const directory = checkRegisterOptions(options);
    const { id, name, models } = given;
    const provider = { id, stream: given.stream.bind(given) };
    this.#program.define("model", (input: ModelInput, call) => this.#run(input, call));
    const number = this.#connection.register("provider", { id, name, models }, directory);
    this.#providers.set(number, provider);
    return registration(() => {
      this.#providers.delete(number);
      this.#connection.unregister("provider", number);
    });
  }

  async #run({ provider: number, request }: ModelInput, call: ProgramCall) {
    const provider = this.#providers.get(number);
    if (provider === undefined) throw new Error("its provider is not registered any more");
    const warn = (message: string) => this.#connection.warn(`${provider.id}/${request.model}: ${message}`, {});
    await sendEvents(await provider.stream(request, { signal: call.signal, warn }), call);
    return { result: null };
  }
}

/** Sends events until the answer is complete or is not needed any more. Errors follow the events before them. */
async function sendEvents(events: unknown, call: ProgramCall) {
  const iterator = iterate(events);
  const batches = new EventBatches(call);
  // It ends a stream that waits for its server. A generator ends at its next event.
  const cancel = () => void end(iterator);
  call.signal.addEventListener("abort", cancel, { once: true });
  try {
    while (!call.signal.aborted) {
      const next = await iterator.next();
      if (next.done) return;
      const room = batches.add(next.value);
      if (isLast(next.value)) break;
      if (room !== undefined) await room;
    }
    void end(iterator);
  } catch (error) {
    void end(iterator);
    throw error;
  } finally {
    call.signal.removeEventListener("abort", cancel);
    batches.flush();
  }
}

function isLast({ type }: ModelEvent) {
  return type === "finish" || type === "error";
}

function iterate(events: unknown): AsyncIterator<ModelEvent> | Iterator<ModelEvent> {
  const source = events as Partial<AsyncIterable<ModelEvent> & Iterable<ModelEvent>> | null | undefined;
  if (typeof source === "object" && source !== null) {
    const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.();
    if (iterator !== undefined) return iterator;
  }
  throw new TypeError(`stream must return an AsyncIterable of events, got ${describe(events)}`);
}

/** Ends an iterator. Its failure is not a failure of the answer, which is complete or not needed any more. */
async function end(iterator: AsyncIterator<ModelEvent> | Iterator<ModelEvent>) {
  try {
    await iterator.return?.();
  } catch {
    // See above.
  }
}

const PROVIDER: Readonly<Record<keyof ModelProvider, (option: string, value: unknown) => void>> = {
  id: checkText,
  name: checkText,
  models(option, value) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
    throw invalidOption(option, `Option "${option}" must be an object of models by their id, got ${describe(value)}`);
  },
  stream: checkFunction,
};

function checkProvider(given: unknown) {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidOption("provider", `providers.register takes a provider, got ${describe(given)}`);
  }
  const provider = given as Partial<ModelProvider>;
  checkMembers(given as Record<string, unknown>, PROVIDER, "");
  for (const name of ["id", "models", "stream"] as const) {
    const value = provider[name];
    if (value === undefined) throw invalidOption(name, `Option "${name}" is missing`);
    PROVIDER[name](name, value);
  }
}
