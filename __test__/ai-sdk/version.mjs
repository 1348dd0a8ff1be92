// A conversation with a model of one version of `@ai-sdk/openai`. Jest loads no ECMAScript modules, so a process does.
//
//   node version.mjs <package> <address of the model> <directory>
//
// Prints the version of the interface and the assistant messages as JSON.

import { OpenCode } from "opencode-embedded";
import { fromAISDK } from "opencode-embedded/ai-sdk";

const [name = "", baseURL = "", directory = ""] = process.argv.slice(2);
const { createOpenAI } = await import(name);
const model = createOpenAI({ baseURL, apiKey: "secret" })("m1");
const host = await OpenCode.create({ directory, home: directory, env: {}, database: ":memory:", log: "off" });
host.providers.register(fromAISDK(model, { id: "mine" }));
const { id: sessionID } = await host.sessions.create({ model: { providerID: "mine", id: "m1" } });
await host.sessions.run({ sessionID, prompt: "Read it" }).result;
await host.sessions.run({ sessionID, prompt: "Again" }).result;
const { items } = await host.sessions.messages({ sessionID, order: "asc" });
await host.close();
const answers = items.filter(({ type }) => type === "assistant");
console.log(JSON.stringify({ version: model.specificationVersion, answers }));
