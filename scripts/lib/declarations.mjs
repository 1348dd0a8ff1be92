// The public declarations of the package without comments. A change of them is a change of the API.

import { readFileSync } from "node:fs";
import { inProject } from "./project.mjs";

/** The committed declarations. */
export const DECLARATIONS = "docs/declarations.txt";

/** The files of all entries of the package, in this order. */
const FILES = [
  "index.d.ts",
  "embedded/create-options.ts",
  "embedded/config.ts",
  "embedded/config-models.ts",
  "embedded/tool.ts",
  "embedded/context-source.ts",
  "embedded/hook.ts",
  "embedded/model.ts",
  "ai-sdk/index.d.ts",
  "ai-sdk/from-ai-sdk.d.ts",
  "ai-sdk/to-ui-messages.d.ts",
  "ai-sdk/to-ui-message-stream.d.ts",
  "ai-sdk/ui-types.ts",
  "client/index.d.ts",
  "client/errors.d.ts",
  "client/resume.d.ts",
  "client/types.ts",
  "client/run/types.ts",
  "client/generated/guards.d.ts",
  "client/generated/types.ts",
];

/** Matches strings, which are kept, and comments, which are removed. */
const STRINGS_AND_COMMENTS = /("(?:[^"\\]|\\.)*")|\/\*[^]*?\*\/|\/\/.*/g;

/** The current declarations. */
export function readDeclarations() {
  const sections = FILES.map((file) => `// ${file}\n${withoutComments(readFileSync(inProject(file), "utf8"))}`);
  return `// Written by \`node scripts/declarations.mjs\`: the public declarations.\n\n${sections.join("\n")}`;
}

/** @param {string} text */
function withoutComments(text) {
  const code = text.replace(STRINGS_AND_COMMENTS, (_, string = "") => string);
  const lines = code.split("\n").map((line) => line.trimEnd());
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}
