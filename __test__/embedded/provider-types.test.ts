import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { setUp } from "./support";

// The requests of a session in each protocol, compiled against the types that the providers publish. A member or a value
// that a type does not have is an error.

const ROOT = path.join(__dirname, "..", "..");

/** The JSON form of a type: enumerations are texts, bytes are Base64, and 64-bit integers may be numbers. */
const WIRE = `
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Wire<T> = [Json] extends [T] ? T
  : T extends Uint8Array ? string
  : T extends string ? \`\${T}\` | Lowercase<\`\${T}\`>
  : T extends object ? { [K in keyof T]: Wire<T[K]> }
  : T;
`;

/** The type of a body. The adapter of a compatible server may add the members of \`beyond\`, which OpenAI does not have. */
const PROTOCOLS = {
  "@ai-sdk/openai-compatible": {
    type: 'import("openai/resources/chat/completions").ChatCompletionCreateParamsStreaming',
    beyond: ["reasoning_content"],
  },
  "@ai-sdk/openai": {
    type: 'import("openai/resources/responses/responses").ResponseCreateParamsStreaming',
    beyond: [],
  },
  "@ai-sdk/anthropic": {
    type: 'import("@anthropic-ai/sdk/resources/messages").MessageCreateParamsStreaming',
    beyond: [],
  },
  "@ai-sdk/google": {
    type: `{
      contents: import("@google/genai").Content[];
      systemInstruction?: import("@google/genai").Content;
      tools?: import("@google/genai").Tool[];
      toolConfig?: import("@google/genai").ToolConfig;
      generationConfig?: import("@google/genai").GenerationConfig;
      safetySettings?: import("@google/genai").SafetySetting[];
    }`,
    beyond: [],
  },
  "@ai-sdk/amazon-bedrock": {
    type: 'Omit<import("@aws-sdk/client-bedrock-runtime").ConverseStreamRequest, "modelId">',
    beyond: [],
  },
};

const IMAGE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** The bodies of a session with reasoning, tools, images, a failed call and a structured output. */
async function bodies(npm: string) {
  const setup = await setUp();
  setup.write("a.txt", "alpha\n");
  const host = await setup.open({ config: setup.model.config({}, npm) });
  const { id: sessionID } = await host.sessions.create({});
  const ask = async (text: string, files: { uri: string }[] = []) => {
    await host.sessions.prompt({ sessionID, prompt: { text, files } });
    await host.sessions.wait({ sessionID });
  };
  const read = (file: string) => ({ name: "read", input: { path: file } });
  setup.model.reply({ reasoning: "Hm.", text: "Reading.", tools: [read("a.txt"), read("missing.txt")] });
  setup.model.reply({ text: "Alpha." }, { text: "A dot." }, { text: '{"ok":true}' });
  await ask("Read both");
  await ask("Look", [{ uri: IMAGE }]);
  const schema = {
    type: "object" as const,
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  await host.sessions.run({ sessionID, prompt: "Is it?", output: { schema } }).result;
  return setup.model.requests.map(({ body }) => body);
}

async function compile(source: string) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "opencode-types-"));
  try {
    await symlink(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"), "junction");
    await writeFile(path.join(folder, "requests.ts"), source);
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2024", "--module", "esnext"];
    options.push("--moduleResolution", "bundler", "--types", "node", "requests.ts");
    const tsc = path.join(ROOT, "node_modules", "typescript", "bin", "tsc");
    await promisify(execFile)(process.execPath, [tsc, ...options], { cwd: folder });
    return "";
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const frames = (events: readonly { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

const MUCH = "much ".repeat(60_000);

/** The stream of an answer in which the provider ran a call, whose result is large. */
const HOSTED: Partial<Record<keyof typeof PROTOCOLS, string>> = {
  "@ai-sdk/openai": frames(
    (() => {
      const call = { type: "code_interpreter_call", id: "ci_1", code: "print(1)", container_id: "cntr_1" };
      const text = { type: "output_text", text: "Ran it.", annotations: [], logprobs: [] };
      const message = { type: "message", id: "msg_1", role: "assistant" };
      const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
      const done = { ...call, status: "completed", outputs: [{ type: "logs", logs: MUCH }] };
      const spoken = { ...message, status: "completed", content: [text] };
      return [
        { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { ...call, status: "in_progress", outputs: null },
        },
        { type: "response.output_item.done", output_index: 0, item: done },
        {
          type: "response.output_item.added",
          output_index: 1,
          item: { ...message, status: "in_progress", content: [] },
        },
        { type: "response.output_text.delta", output_index: 1, item_id: "msg_1", content_index: 0, delta: "Ran it." },
        { type: "response.output_item.done", output_index: 1, item: spoken },
        {
          type: "response.completed",
          response: { id: "resp_1", status: "completed", output: [done, spoken], usage },
        },
      ];
    })(),
  ),
  "@ai-sdk/anthropic": frames(
    (() => {
      const found = { type: "web_search_result", url: "https://example.com", title: "Example", page_age: null };
      const content = [{ ...found, encrypted_content: MUCH }];
      const result = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content };
      const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
      const message = { id: "msg_1", type: "message", role: "assistant", model: "m1", content: [], stop_reason: null };
      const usage = { input_tokens: 10, output_tokens: 1 };
      return [
        { type: "message_start", message: { ...message, stop_sequence: null, usage } },
        { type: "content_block_start", index: 0, content_block: call },
        {
          type: "content_block_delta",
          index: 0,
          delta: { type: "input_json_delta", partial_json: '{"query":"example"}' },
        },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: result },
        { type: "content_block_stop", index: 1 },
        { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "Found it." } },
        { type: "content_block_stop", index: 2 },
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: "message_stop" },
      ];
    })(),
  ),
  "@ai-sdk/google": `data: ${JSON.stringify({
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { executableCode: { language: "PYTHON", code: "print(1)" } },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: MUCH } },
            { text: "Ran it." },
          ],
        },
        finishReason: "STOP",
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  })}\n\n`,
};

function typed({ type, beyond }: { type: string; beyond: string[] }, sent: unknown[]) {
  const without = (key: string, value: unknown) => (beyond.includes(key) ? undefined : value);
  return `${WIRE}\nexport const bodies: Wire<${type}>[] = ${JSON.stringify(sent, without, 1)};\n`;
}

test.each(Object.entries(HOSTED))(
  "%s: requests have these types before and after the result of a hosted call is pruned",
  async (npm, raw) => {
    const setup = await setUp();
    const config = setup.model.config({}, npm);
    // Responses repeat a call of the interpreter only if the configuration asks for it.
    const options = npm === "@ai-sdk/openai" ? { replayHosted: true } : {};
    Object.assign(config.provider.mock.models.m1, { options });
    const host = await setup.open({ config });
    const { id: sessionID } = await host.sessions.create({});
    setup.model.reply({ raw }, { text: "One." }, { text: "Two." }, { text: "Three." });
    for (const text of ["Look it up", "Once", "Twice", "Again"]) {
      expect(await host.sessions.run({ sessionID, prompt: text }).result).toMatchObject({ outcome: "completed" });
    }
    const [, before, , after] = setup.model.requests.map(({ body }) => JSON.stringify(body));
    expect([before?.includes(MUCH), after?.includes(MUCH)]).toEqual([true, false]);
    expect(after?.includes("Old tool result content cleared")).toBe(true);
    const sent = setup.model.requests.map(({ body }) => body);
    expect(await compile(typed(PROTOCOLS[npm as keyof typeof PROTOCOLS], sent))).toBe("");
  },
  60_000,
);

test.each(Object.entries(PROTOCOLS))(
  "%s: requests have the types of the provider",
  async (npm, protocol) => {
    const sent = await bodies(npm);
    expect(sent.length).toBeGreaterThanOrEqual(4);
    const source = typed(protocol, sent);
    expect(await compile(source)).toBe("");
    // The check itself notices a member that no type has.
    const wrong = source.replace("= [\n {", '= [\n {\n  "unknown_member": 1,');
    expect(await compile(wrong)).toContain("unknown_member");
  },
  60_000,
);
