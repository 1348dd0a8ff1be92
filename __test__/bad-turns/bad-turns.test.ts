// Changed answers of some protocols and of program models, odd results of tools and odd files of prompts.

import type { ModelEvent } from "../../index.js";
import { readMessages } from "../embedded/support";
import { pick } from "../random.js";
import { findOpenParts, oddResults, promptTwice, runCases, testAnswers } from "./cases";
import { mutate } from "./mutations";
import { FILES, RESULTS } from "./results";
import { PROGRAM_ANSWERS, PROTOCOLS } from "./streams";

testAnswers(["gemini", "bedrock"]);

test("models of the program: a session goes on after any answer", async () => {
  await runCases("@ai-sdk/openai-compatible", async (one) => {
    const { random, host } = one;
    const frames = mutate(random, pick(random, PROGRAM_ANSWERS));
    oddResults.set(host, pick(random, RESULTS));
    const answers: unknown[][] = [frames];
    const good = [
      { type: "text-delta", text: "Good." },
      { type: "finish", reason: "stop" },
    ];
    const registration = host.providers.register({
      id: "own",
      models: { m: {} },
      stream: () => (answers.shift() ?? good) as ModelEvent[],
    });
    const { id: sessionID } = await host.sessions.create({ model: { providerID: "own", id: "m" } });
    for (const text of ["Begin", "Go on"]) {
      await host.sessions.prompt({ sessionID, prompt: { text } });
      await host.sessions.wait({ sessionID });
    }
    const problems = findOpenParts(await readMessages(host, sessionID));
    registration.dispose();
    await host.sessions.remove({ sessionID });
    return problems.length === 0 ? [] : [...problems, JSON.stringify(frames).slice(0, 4000)];
  });
});

test.each(Object.entries(PROTOCOLS))("%s: a session goes on after any result of a tool", async (_, { npm }) => {
  const results = [...RESULTS.entries()];
  await runCases(
    npm,
    async (one) => {
      const [index, result] = results.pop() ?? [];
      oddResults.set(one.host, result);
      const problems = await promptTwice(one, (sessionID) => {
        one.setup.model.reply({ tools: [{ name: "odd", input: {} }] });
        return one.host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
      });
      return problems.length === 0 ? [] : [`result ${index}`, ...problems];
    },
    { cases: RESULTS.length },
  );
});

test.each(Object.entries(PROTOCOLS))("%s: a session goes on after any file of a prompt", async (_, { npm }) => {
  const files = [...FILES];
  await runCases(
    npm,
    async (one) => {
      const uri = files.pop() ?? "";
      const problems = await promptTwice(one, async (sessionID) => {
        const prompt = { text: "Begin", files: [{ uri }] };
        // The host may refuse the prompt. Then this answer is for a later one.
        one.setup.model.reply({ text: "Good." });
        await one.host.sessions.prompt({ sessionID, prompt }).catch(() => {});
      });
      return problems.length === 0 ? [] : [`file ${uri.slice(0, 80)}`, ...problems];
    },
    { cases: FILES.length },
  );
});
