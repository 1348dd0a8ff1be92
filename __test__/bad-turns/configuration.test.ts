// Changes of the configuration between two turns.

import type { OpenCodeHost } from "../../index.js";
import { PERMISSION, promptTwice, runCases, SLOW_CASES } from "./cases";
import { changeDocument, writeDocument, writeDocuments } from "./documents";
import { PROTOCOLS } from "./streams";

/** Prompts, and waits for the end of the work. The agent or the model may be missing, so the prompt may stay pending. */
async function prompt(host: OpenCodeHost, sessionID: string, text: string) {
  await host.sessions.prompt({ sessionID, prompt: { text } });
  await host.sessions.wait({ sessionID }).catch((error: unknown) => {
    const reason = JSON.stringify(error);
    if (!/agent|model|provider/i.test(reason)) throw error;
  });
}

/** True if a request has a member that the document gives it: an unknown key of an agent is an option of its requests. */
function isSetting(problem: string, document: string) {
  const name = problem.match(/NOT have additional properties \{"additionalProperty":"(.+)"\}$/)?.[1];
  return name !== undefined && document.includes(name);
}

test.each(Object.entries(PROTOCOLS))("%s: a session goes on after any change of its documents", async (_, { npm }) => {
  await runCases(
    npm,
    async (one) => {
      const { random, setup, host } = one;
      const change = changeDocument(random);
      const found = await promptTwice(one, async (sessionID) => {
        setup.model.reply({ tools: [{ name: "read", input: { path: "a.txt" } }] }, { text: "Begun." });
        await prompt(host, sessionID, "Begin");
        writeDocument(setup.directory, change);
        await host.location.reload();
        setup.model.reply({ tools: [{ name: "glob", input: { pattern: "*" } }] });
        await prompt(host, sessionID, "Try");
        const { data } = await host.location.diagnostics();
        if (data.some(({ message }) => message === "")) throw new Error("A diagnostic has no message");
        writeDocument(setup.directory, { ...change, to: () => {} });
        writeDocuments(setup.directory);
        await host.location.reload();
      });
      const shown = typeof change.to === "function" ? String(change.to) : change.to.toString("utf8");
      const problems = change.name.includes("/agent/") ? found.filter((it) => !isSetting(it, shown)) : found;
      return problems.length === 0 ? [] : [change.name, ...problems, shown.slice(0, 4000)];
    },
    {
      cases: SLOW_CASES,
      prepare: async (setup) => {
        writeDocuments(setup.directory);
        // The project chooses the model.
        const { provider } = setup.model.config({}, npm);
        return { trust: true, config: { provider, permission: PERMISSION } };
      },
    },
  );
});
