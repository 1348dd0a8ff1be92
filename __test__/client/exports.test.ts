import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const root = path.resolve(__dirname, "../..");
const contract = fs.readFileSync(path.join(root, "crates/protocol/contract.json"), "utf8");
const tags = Object.keys((JSON.parse(contract) as { failures: object }).failures);

// The compiler reports a name that is declared and missing here, or the reverse. The tests report a name that is
// declared and not exported, or the reverse.
const client: Record<keyof typeof import("../../dist/client/index.js"), true> = {
  createClient: true,
  citedSources: true,
  resumeEvents: true,
  ClientError: true,
  isClientError: true,
  isTagged: true,
  isAddonUnavailableError: true,
  isAddressUnavailableError: true,
  isCommandNotFoundError: true,
  isConflictError: true,
  isDatabaseInUseError: true,
  isDatabaseUnavailableError: true,
  isDatabaseVersionError: true,
  isForbiddenError: true,
  isInputNotFoundError: true,
  isInvalidCursorError: true,
  isInvalidOptionError: true,
  isInvalidRequestError: true,
  isMessageNotFoundError: true,
  isPermissionNotFoundError: true,
  isProviderNotFoundError: true,
  isPtyNotFoundError: true,
  isQuestionNotFoundError: true,
  isServiceUnavailableError: true,
  isSessionBacklogError: true,
  isSessionBusyError: true,
  isSessionMessageNotFoundError: true,
  isSessionNotFoundError: true,
  isSessionUnreadableError: true,
  isStorePoisonedError: true,
  isUnauthorizedError: true,
  isUnknownError: true,
};
const facade: Record<keyof typeof import("../../index.js"), true> = {
  ...client,
  OpenCode: true,
  unavailable: true,
};

const aiSDK: Record<keyof typeof import("../../dist/ai-sdk/index.js"), true> = {
  fromAISDK: true,
  toUIMessages: true,
  toUIMessageStream: true,
};

/** The names that a program sees if it imports the package by name with `import` and with `require`. */
function inspect(specifier: string): { esm: string[]; cjs: string[]; same: boolean } {
  const program = `
    import { createRequire } from "node:module";
    const esm = await import(${JSON.stringify(specifier)});
    const cjs = createRequire(import.meta.url)(${JSON.stringify(specifier)});
    const same = Object.keys(esm).every((name) => esm[name] === cjs[name]);
    console.log(JSON.stringify({ esm: Object.keys(esm), cjs: Object.keys(cjs), same }));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd: root });
  return JSON.parse(output.toString());
}

test.each([
  ["opencode-embedded", facade],
  ["opencode-embedded/client", client],
  ["opencode-embedded/ai-sdk", aiSDK],
])("%s exports the declared names, with the same values in both module systems", (specifier, declared) => {
  const { esm, cjs, same } = inspect(specifier);
  expect(esm.sort()).toEqual(Object.keys(declared).sort());
  expect(cjs.sort()).toEqual(esm);
  expect(same).toBe(true);
});

test("every tag has a guard", () => {
  expect(Object.keys(client)).toEqual(expect.arrayContaining(tags.map((tag) => `is${tag}`)));
});

test("the client imports only its own files, so that it runs in browsers", () => {
  const folder = path.join(root, "dist/client");
  const files = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.m?[jt]s$/.test(name));
  expect(files).toEqual(expect.arrayContaining(["index.js", "index.d.ts", path.join("generated", "operations.js")]));
  const foreign = files.flatMap((file) => {
    const source = fs.readFileSync(path.join(folder, file), "utf8");
    const needed = source.matchAll(/(?:require\(|import\(|import |from )"([^"]+)"/g);
    const targets = Array.from(needed, ([, specifier]) => path.join(path.dirname(file), specifier as string));
    // A declaration and its module have the same name.
    const isOurs = (target: string) => files.includes(target) || files.includes(target.replace(/\.(m?)js$/, ".d.$1ts"));
    return targets.filter((target) => !isOurs(target)).map((target) => `${file}: ${target}`);
  });
  expect(foreign).toEqual([]);
});
