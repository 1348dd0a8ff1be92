import { describe } from "./checks.js";
import { registration, words } from "./registration.js";
import type { PtyEnvironmentHook, Registration } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { Program, ProgramCall } from "./program.js";

/** Maximum size of all variables in bytes. The native host checks it exactly; here it avoids encoding a huge text. */
const MAX_BYTES = 1024 * 1024;

/** The input of the function `ptyEnvironment`. */
interface EnvironmentInput {
  number: number;
  directory: string;
  cwd: string;
}

/**
 * The functions of a host that give variables to its terminals. The native host calls all of them, and the last
 * registered one wins.
 */
export class TerminalEnvironment {
  #connection;
  #program;
  #functions: Map<number, PtyEnvironmentHook> = new Map();

  constructor(connection: NativeConnection, program: Program) {
    this.#connection = connection;
    this.#program = program;
  }

  register(given: PtyEnvironmentHook): Registration {
    if (typeof given !== "function") throw new TypeError(`ptys.environment takes a function, got ${describe(given)}`);
    this.#program.define("ptyEnvironment", (input: EnvironmentInput, call) => this.#run(input, call));
    const number = this.#connection.register("environment", {});
    this.#functions.set(number, given);
    return registration(() => {
      this.#functions.delete(number);
      this.#connection.unregister("environment", number);
    });
  }

  async #run({ number, ...context }: EnvironmentInput, { signal }: ProgramCall) {
    const run = this.#functions.get(number);
    // The native host has seen the disposal later than the start of the call.
    if (run === undefined) return { result: [] };
    try {
      return { result: readVariables(await run(context, { signal })) };
    } catch (error) {
      throw new Error(words(error), { cause: error });
    }
  }
}

/**
 * A terminal does not start with a part of its variables, because it might run a wrong program or reach a wrong server.
 *
 * @param given The value that a function returned.
 */
function readVariables(given: unknown): [string, string][] {
  if (typeof given !== "object" || given === null || Symbol.iterator in given) {
    throw new TypeError(`it must give an object of strings, got ${describe(given)}`);
  }
  const variables = Object.entries(given);
  let size = 0;
  for (const [name, value] of variables) {
    if (typeof value !== "string") {
      throw new TypeError(`it must give strings, but ${JSON.stringify(name)} is ${describe(value)}`);
    }
    size += name.length + value.length;
  }
  if (size > MAX_BYTES) throw new RangeError(`its variables have more than ${MAX_BYTES} bytes`);
  return variables;
}
