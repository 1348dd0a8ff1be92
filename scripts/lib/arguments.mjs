// The arguments of a script.

import { parseArgs } from "node:util";
import { Failure, messageOf } from "./failure.mjs";

/**
 * Reads the arguments. An unknown argument is a mistake of the user.
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
