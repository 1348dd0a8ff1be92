import { taggedError } from "../client/failures.js";
import { encodeJson } from "../client/request.js";
import { checkBudget } from "./checks.js";
import type { SessionBudget } from "../index.js";
import type { NativeConnection } from "./connection.js";

/** Replaces the budget of the host. */
export function setBudget(connection: NativeConnection, budget: SessionBudget) {
  checkBudget("budget", budget);
  const failure = connection.setBudget(encodeJson(budget));
  if (failure !== null) throw taggedError(JSON.parse(failure));
}
