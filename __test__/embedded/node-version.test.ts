import { execFileSync } from "node:child_process";
import path from "node:path";

const root = path.resolve(__dirname, "../..");

const imports = [
  ["require", ["--eval", `require("opencode-embedded")`]],
  ["import", ["--input-type=module", "--eval", `import "opencode-embedded"`]],
] as [string, string[]][];

/** Imports the package in a process that reports false versions. */
function importUnder(versions: { node: string; bun?: string; deno?: string }, args: string[]) {
  const preload = `
    const versions = { ...process.versions, ...${JSON.stringify(versions)} };
    Object.defineProperties(process, { versions: { value: versions }, version: { value: "v" + versions.node } });
  `;
  const url = `data:text/javascript,${encodeURIComponent(preload)}`;
  return execFileSync(process.execPath, ["--import", url, ...args], { cwd: root, encoding: "utf8", stdio: "pipe" });
}

test.each(imports)("%s fails under a Node version that is too old", (_, args) => {
  const sentence = "Error: opencode-embedded needs Node 20 or newer; this is v18.19.0";
  expect(() => importUnder({ node: "18.19.0" }, args)).toThrow(sentence);
});

test.each(imports)("%s works under the oldest supported Node, and under Bun and Deno", (_, args) => {
  for (const versions of [{ node: "20.0.0" }, { node: "18.0.0", bun: "1.0.0" }, { node: "18.0.0", deno: "2.0.0" }]) {
    expect(importUnder(versions, args)).toBe("");
  }
});
