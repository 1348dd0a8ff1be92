import { checkMembers, checkText, describe, invalidOption } from "./checks.js";
import type { RegisterOptions } from "./tool-types.js";

/** Checks the options of a registration. Returns the directory of its Location. */
export function checkRegisterOptions(options: RegisterOptions): string | undefined {
  if (typeof options !== "object" || options === null) {
    throw invalidOption("options", `The options must be an object, got ${describe(options)}`);
  }
  checkMembers(options as Record<string, unknown>, { location: checkLocation }, "");
  return options.location?.directory;
}

function checkLocation(option: string, value: unknown) {
  if (typeof value !== "object" || value === null || !("directory" in value)) {
    throw invalidOption(option, `Option "${option}" must be an object with a directory, got ${describe(value)}`);
  }
  checkMembers(value as Record<string, unknown>, { directory: checkText }, `${option}.`);
}
