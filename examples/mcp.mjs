// A host with an MCP server, whose command is in the arguments: prints its tools, and an answer that may use them.
//
//   OPENAI_API_KEY=... node examples/mcp.mjs npx -y @modelcontextprotocol/server-filesystem .

import { OpenCode } from "opencode-embedded";
import { options } from "./config.cjs";

const command = process.argv.slice(2);
const opencode = await OpenCode.create({ ...options, mcp: { files: { type: "local", command } } });
const { data: server } = await opencode.mcp.reconnect({ name: "files" });
console.log(`${server.name}: ${server.status.status}, ${server.tools.join(" ")}`);
console.log(await opencode.sessions.run({ prompt: "Which files are here?" }).text);
await opencode.close();
