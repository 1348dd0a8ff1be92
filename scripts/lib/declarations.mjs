// The public declarations of the package without comments. A change of them is a change of the API.

import { readFileSync } from "node:fs";
import { inProject } from "./project.mjs";

/** The committed declarations. */
export const DECLARATIONS = "docs/declarations.txt";

/** The files of all entries of the package, in this order: sources, and declarations of sources that have code. */
const FILES = [
  "dist/index.d.ts",
  "dist/host/unavailable.d.ts",
  "src/host/host-types.ts",
  "src/host/generated/options.ts",
  "src/host/option-types.ts",
  "src/host/generated/config.ts",
  "src/host/tool-types.ts",
  "src/host/context-source-types.ts",
  "src/host/hook-types.ts",
  "src/host/model-types.ts",
  "dist/ai-sdk/index.d.ts",
  "dist/ai-sdk/from-ai-sdk.d.ts",
  "dist/ai-sdk/to-ui-messages.d.ts",
  "dist/ai-sdk/to-ui-message-stream.d.ts",
  "src/ai-sdk/ui-types.ts",
  "dist/client/index.d.ts",
  "dist/client/errors.d.ts",
  "dist/client/resume.d.ts",
  "src/client/types.ts",
  "src/client/run/types.ts",
  "dist/client/generated/guards.d.ts",
  "src/client/generated/types.ts",
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
