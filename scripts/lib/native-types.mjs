// `src/host/native-types.ts`: the types of the addon, from the definitions that napi writes while it is compiled.

import { readFileSync } from "node:fs";
import path from "node:path";
import { CRATE, typeFolder } from "./cargo-build.mjs";

/** @typedef {import("./cargo-build.mjs").Profile} Profile */

/** A line of the definitions. `def` has the members of a type, or the signature of a function. */
/** @typedef {{ kind: string, name: string, js_doc: string, def: string }} Definition */

export const NATIVE_TYPES = "src/host/native-types.ts";

const HEAD = "// Written by `node scripts/native-types.mjs` from crates/node. Do not edit.";

/**
 * The types of the addon that was built last in this profile.
 *
 * @param {Profile} profile
 */
export function renderNativeTypes(profile) {
  const lines = readFileSync(path.join(typeFolder(profile), CRATE), "utf8")
    .trim()
    .split("\n");
  return render(lines.map((line) => JSON.parse(line)));
}

/**
 * Definitions come in the order in which the compiler expands them.
 *
 * @param {readonly Definition[]} definitions
 */
export function render(definitions) {
  const types = definitions.filter(({ kind }) => kind === "struct" || kind === "interface");
  const interfaces = types.map(({ name, js_doc: doc, def }) => {
    const own = definitions.filter((it) => it.kind === "impl" && it.name === name);
    return renderInterface(name, doc, [def, ...own.map((it) => it.def)]);
  });
  const functions = definitions.filter(({ kind }) => kind === "fn");
  const members = functions.map(({ js_doc: doc, def }) => doc + def.replace(/^function /, ""));
  interfaces.push(renderInterface("Addon", "/** The functions of the addon. */\n", members.sort()));
  return `${HEAD}\n\n${interfaces.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).join("\n")}`;
}

/**
 * @param {string} name
 * @param {string} doc
 * @param {readonly string[]} members
 */
function renderInterface(name, doc, members) {
  const lines = members.flatMap((member) => member.split("\n")).filter((line) => line.trim() !== "");
  const body = lines.map((line) => `  ${toMember(line)}\n`).join("");
  return `${doc.replaceAll(/[ \t]+$/gm, "")}export interface ${name} {\n${body}}\n`;
}

/** @param {string} text */
function nameOf(text) {
  return /^export interface (\w+)/m.exec(text)?.[1] ?? "";
}

/**
 * A line of a comment, a getter, a method or a field. Programs without the types of Node do not know `Buffer`.
 *
 * @param {string} line
 */
function toMember(line) {
  if (/^ ?(?:\/\*\*| \*|\*)/.test(line)) return line.trimEnd();
  const member = line
    .trim()
    .replace(/^get (\w+)\(\)/, "readonly $1")
    .replaceAll(/\bBuffer\b/g, "Uint8Array");
  return `${member};`;
}
