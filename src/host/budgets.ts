import { taggedError } from "../client/failures.js";
import { encodeJson } from "../client/request.js";
import { membersOf } from "./checks.js";
import { sessionBudget } from "./generated/checks.js";
import type { SessionBudget } from "../index.js";
import type { NativeConnection } from "./connection.js";

/** Replaces the budget of the host. */
export function setBudget(connection: NativeConnection, budget: SessionBudget) {
  membersOf(sessionBudget)("budget", budget);
  const failure = connection.setBudget(encodeJson(budget));
  if (failure !== null) throw taggedError(JSON.parse(failure));
}
