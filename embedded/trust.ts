import { checkMembers } from "../client/members.js";
import { encodeJson } from "../client/request.js";
import { invalidRequest } from "../client/shape.js";
import { describe } from "./checks.js";
import { words } from "./registration.js";
import { Signals } from "./signals.js";
import type { ObjectShape } from "../client/operation.js";
import type { LocationTrustInput, TrustFunction } from "../index.js";
import type { NativeConnection } from "./connection.js";
import type { NativeAttendance } from "./native-types.js";

const METHOD = "location.trust";

const SHAPE: ObjectShape = { location: { directory: null }, trusted: null };

/** Keeps each attendance reachable as long as its connection. A collected attendance stops. */
const attendances: WeakMap<NativeConnection, NativeAttendance> = new WeakMap();

/** Lets the function of the option `trust` decide about each Location. */
export function answerTrust(connection: NativeConnection, decide: TrustFunction) {
  const signals: Signals<number> = new Signals();
  const answerOne = async ({ id, directory }: { id: number; directory: string }) => {
    const signal = signals.begin(id);
    const answer = await ask(decide, directory, signal);
    // An answer after the abort is too late, and a failure after it is not a mistake.
    if (signal.aborted) return;
    signals.finish(id);
    if (answer.error !== undefined) {
      connection.warn(`The function of the option "trust" decides nothing: ${answer.error}`, { directory });
    }
    connection.answerTrust(id, encodeJson(answer));
  };
  const attendance = connection.attend("askedTrust", {
    asked: (question) => void answerOne(question),
    ended: (id) => signals.abort(id),
  });
  attendances.set(connection, attendance);
}

/** Returns the answer of the function, or the reason why there is none. */
async function ask(decide: TrustFunction, directory: string, signal: AbortSignal) {
  try {
    const trusted = (await decide(directory, { signal })) as unknown;
    if (typeof trusted === "boolean") return { trusted };
    return { error: `it must return true or false, got ${describe(trusted)}` };
  } catch (error) {
    return { error: `it failed: ${words(error)}` };
  }
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
