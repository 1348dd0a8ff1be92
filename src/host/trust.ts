import { checkMembers } from "../client/members.js";
import { invalidRequest } from "../client/shape.js";
import { describe } from "./checks.js";
import { words } from "./registration.js";
import type { ObjectShape } from "../client/operation.js";
import type { LocationTrustInput, TrustFunction } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { Program } from "./program.js";

const METHOD = "location.trust";

const SHAPE: ObjectShape = { location: { directory: null }, trusted: null };

/** Lets the function of the option `trust` decide about each Location. */
export function answerTrust(connection: NativeConnection, program: Program, decide: TrustFunction) {
  program.define("trust", async ({ directory }: { directory: string }, { signal }) => {
    try {
      return { result: await ask(decide, directory, signal) };
    } catch (error) {
      // A failure after the abort is not a mistake.
      if (!signal.aborted) {
        connection.warn(`The function of the option "trust" decides nothing: ${messageOf(error)}`, { directory });
      }
      throw error;
    }
  });
}

async function ask(decide: TrustFunction, directory: string, signal: AbortSignal) {
  let trusted: unknown;
  try {
    trusted = await decide(directory, { signal });
  } catch (error) {
    throw new Error(`it failed: ${words(error)}`, { cause: error });
  }
  if (typeof trusted === "boolean") return trusted;
  throw new TypeError(`it must return true or false, got ${describe(trusted)}`);
}

function messageOf(error: unknown) {
  return (error as Error).message;
}

/** `location.trust` of a host. */
export function createTrust(connection: NativeConnection) {
  return async function trust(input: LocationTrustInput) {
    const { directory, trusted } = checkInput(input);
    await connection.trust(directory, trusted);
  };
}

/** Throws the tagged failure `InvalidRequestError`. */
function checkInput(input: unknown) {
  if (!isRecord(input) || typeof input.trusted !== "boolean") {
    throw invalidRequest(`${METHOD} takes { location?, trusted }, where trusted is true or false`, "trusted");
  }
  checkMembers(METHOD, input, SHAPE);
  const location = input.location ?? {};
  if (!isRecord(location)) {
    throw invalidRequest(`location must be { directory }, got ${describe(location)}`, "location");
  }
  const { directory } = location;
  if (directory !== undefined && typeof directory !== "string") {
    throw invalidRequest(`location.directory must be a string, got ${describe(directory)}`, "location.directory");
  }
  return { directory: directory ?? null, trusted: input.trusted };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
