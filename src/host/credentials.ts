import { describe } from "./checks.js";
import { words } from "./registration.js";
import type { CredentialStore } from "../index.js";
import type { Program } from "./program.js";

interface CredentialInput {
  key: string;
  value?: string;
}

/** Lets the functions of the option `credentials` keep the values of credentials. Failures never contain a value. */
export function answerCredentials(program: Program, store: CredentialStore) {
  program.define("credentials.get", async ({ key }: CredentialInput) => {
    const value: unknown = await called("get", () => store.get(key));
    if (value === undefined || value === null) return { result: null };
    if (typeof value === "string") return { result: value };
    throw new TypeError(`get must give a string or undefined, got ${describe(typeof value)}`);
  });
  program.define("credentials.set", async ({ key, value = "" }: CredentialInput) => {
    await called("set", () => store.set(key, value));
    return { result: null };
  });
  program.define("credentials.remove", async ({ key }: CredentialInput) => {
    await called("remove", () => store.remove(key));
    return { result: null };
  });
}

async function called(name: string, run: () => unknown) {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${name} failed: ${words(error)}`, { cause: error });
  }
}
