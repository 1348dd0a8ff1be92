// A host with plugins: the model knows the branch, and each tool call and each failure is printed.
//
//   OPENAI_API_KEY=... node examples/plugins.mjs "What changed on this branch?"

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";
import { audit } from "./plugins/audit.mjs";
import { errors } from "./plugins/errors.mjs";
import { git } from "./plugins/git.mjs";

const plugins = [git(), audit(console.log), errors(console.log)];
const opencode = await OpenCode.create({ ...options, plugins });
const prompt = process.argv[2] ?? "What is in this directory?";
console.log(await opencode.sessions.run({ prompt }).text);
await opencode.close();
