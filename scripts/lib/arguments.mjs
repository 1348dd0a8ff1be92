// The arguments of a script.

import { parseArgs } from "node:util";
import { Failure, messageOf } from "./failure.mjs";

/**
 * Reads the arguments. One that the script does not know is the user's mistake.
 *
 * @template {import("node:util").ParseArgsConfig} T
 * @param {T} config
 */
export function readArguments(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new Failure(messageOf(error));
  }
}
