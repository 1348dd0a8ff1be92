// The schemas of tools, as each provider gets them, and the arguments that the tools get.

import path from "node:path";
import { readCalls } from "../program/support";
import { setUp } from "../embedded/support";
import { readServer, scripted } from "./support";

const routeOrFile = {
  type: "object",
  properties: { route: { type: "string" }, file: { type: "string" } },
  anyOf: [{ required: ["route"] }, { required: ["file"] }],
};
const level = { type: "object", properties: { level: { const: 1 } }, required: ["level"] } as const;

/** The place of the schema of a tool in the body of a request. */
const PROTOCOLS = {
  "@ai-sdk/openai-compatible": (body: any, name: string) =>
    body.tools.find((tool: any) => tool.function.name === name).function.parameters,
  "@ai-sdk/openai": (body: any, name: string) => body.tools.find((tool: any) => tool.name === name).parameters,
  "@ai-sdk/anthropic": (body: any, name: string) => body.tools.find((tool: any) => tool.name === name).input_schema,
  "@ai-sdk/amazon-bedrock": (body: any, name: string) =>
    body.toolConfig.tools.find(({ toolSpec }: any) => toolSpec.name === name).toolSpec.inputSchema.json,
  "@ai-sdk/google": (body: any, name: string) =>
    body.tools[0].functionDeclarations.find((tool: any) => tool.name === name).parameters,
};

async function open(npm: string) {
  const setup = await setUp();
  const tools = [
    { name: "find", description: "Finds.", inputSchema: routeOrFile },
    { name: "level", description: "Sets a level.", inputSchema: level },
  ];
  setup.write("tools.json", JSON.stringify(tools));
  const file = path.join(setup.directory, "tools.json");
  const host = await setup.open({
    config: setup.model.config({}, npm),
    mcp: { s: scripted("tools", file) },
  });
  const { id: sessionID } = await host.sessions.create({});
  const ask = async (text: string) => {
    await host.sessions.prompt({ sessionID, prompt: { text } });
    await host.sessions.wait({ sessionID });
  };
  return { ...setup, host, sessionID, ask };
}

test.each(Object.entries(PROTOCOLS))(
  "%s gets no alternatives at the root, and each property",
  async (npm, schemaOf) => {
    const { host, model, ask, sessionID } = await open(npm);
    model.reply({ tools: [{ name: "s_find", input: { route: "/a" } }] }, { text: "Found." });
    await ask("Find it");
    const schema = schemaOf(model.requests[0]?.body, "s_find");
    expect(schema).toEqual({
      type: "object",
      properties: routeOrFile.properties,
      description: "The object must fit at least one of these alternatives: (1) requires `route`; (2) requires `file`.",
    });
    expect(await readCalls(host, sessionID)).toMatchObject([
      { state: { status: "completed", content: [{ type: "text", text: '{"route":"/a"}' }] } },
    ]);
    expect(await readServer(host, "s")).toMatchObject({
      problems: ['the input schema of the tool "find" is simplified: `anyOf` at its root is told in words'],
    });
  },
);

test("the tools get numbers that Gemini lists as texts", async () => {
  const { host, model, ask, sessionID } = await open("@ai-sdk/google");
  const seen: unknown[] = [];
  host.tools.register({
    name: "own_level",
    description: "Sets a level.",
    input: level,
    execute: (input) => {
      seen.push(input);
      return "set";
    },
  });
  const input = { level: "1" };
  model.reply(
    {
      tools: [
        { name: "s_level", input },
        { name: "own_level", input },
      ],
    },
    { text: "Set." },
    { text: "Still set." },
  );
  await ask("Set both");
  await ask("And?");
  const [first, second, third] = model.requests.map(({ body }) => body);
  const listed = { type: "object", properties: { level: { type: "string", enum: ["1"] } }, required: ["level"] };
  for (const name of ["s_level", "own_level"]) {
    expect(PROTOCOLS["@ai-sdk/google"](first, name)).toEqual(listed);
  }
  expect(seen).toEqual([{ level: 1 }]);
  expect(await readCalls(host, sessionID)).toMatchObject([
    { state: { status: "completed", input: { level: 1 }, content: [{ type: "text", text: '{"level":1}' }] } },
    { state: { status: "completed", input: { level: 1 } } },
  ]);
  // The history has what the tools got, and stays the same.
  expect(JSON.stringify(third.contents)).toContain(JSON.stringify(second.contents).slice(0, -1));
});
