// Changed answers of MCP servers to calls of their tools.

import { pick } from "../random.js";
import { promptTwice, runCases, SLOW_CASES } from "./cases";
import { damage, mutate } from "./mutations";
import { MCP_ANSWERS } from "./mcp-answers";
import { startServers, WAYS, writeAnswer } from "./servers";
import type { Servers } from "./servers";
import { PROTOCOLS } from "./streams";

/** Most cases without an answer wait for the time of a request. */
const TIMEOUT = { startup: 30_000, request: 300 };

test.each(Object.entries(PROTOCOLS))("%s: a session goes on after any answer of an MCP server", async (_, { npm }) => {
  const all = new Map<string, Servers>();
  const called: string[] = [];
  await runCases(
    npm,
    async (one) => {
      const { random, setup, host } = one;
      const way = pick(random, WAYS);
      const messages = mutate(random, pick(random, MCP_ANSWERS));
      const answer = damage(random, writeAnswer(way, messages));
      // A line that a change cut would swallow the answer of the next case.
      all.get(setup.root)!.choose(way, way === "lines" ? Buffer.concat([answer, Buffer.from("\n")]) : answer);
      const problems = await promptTwice(one, (sessionID) => {
        setup.model.reply({ tools: [{ name: `${way}_raw`, input: {} }] });
        return host.sessions.prompt({ sessionID, prompt: { text: "Begin" } });
      });
      called.push(way);
      return problems.length === 0 ? [] : [way, ...problems, JSON.stringify(messages).slice(0, 4000)];
    },
    {
      cases: SLOW_CASES,
      prepare: async (setup) => {
        const servers = await startServers(setup, TIMEOUT);
        all.set(setup.root, servers);
        return { mcp: servers.mcp };
      },
    },
  );
  expect(new Set(called)).toEqual(new Set(WAYS));
});
