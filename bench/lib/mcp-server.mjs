// A server of the Model Context Protocol over its standard input and output, with one tool that returns at once.
import { createInterface } from "node:readline";

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "bench", version: "1.0.0" },
  }),
  "tools/list": () => ({
    tools: [{ name: "count", description: "Counts its calls.", inputSchema: { type: "object" } }],
  }),
  "tools/call": () => ({ content: [{ type: "text", text: "Counted." }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}
