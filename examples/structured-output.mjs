// Asks for a list of the scripts of the working directory, as a value of a known type:
//
//   OPENAI_API_KEY=... node examples/structured-output.mjs

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const schema = {
  type: "object",
  properties: {
    scripts: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, purpose: { type: "string" } },
        required: ["name", "purpose"],
        additionalProperties: false,
      },
    },
  },
  required: ["scripts"],
  additionalProperties: false,
};

const opencode = await OpenCode.create(options);
try {
  const run = opencode.sessions.run({ prompt: "What is each script of package.json for?", output: schema });
  const { outcome, output, reason } = await run.result;
  if (outcome !== "completed") throw new Error(`${outcome}: ${reason}`);
  for (const { name, purpose } of output.scripts) console.log(`${name}: ${purpose}`);
} finally {
  await opencode.close();
}
