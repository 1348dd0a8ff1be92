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

test.each(Object.entries(PROTOCOLS))(
  "%s: requests have the types of the provider",
  async (npm, { type, beyond }) => {
    const sent = await bodies(npm);
    expect(sent.length).toBeGreaterThanOrEqual(4);
    const without = (key: string, value: unknown) => (beyond.includes(key as never) ? undefined : value);
    const source = `${WIRE}\nexport const bodies: Wire<${type}>[] = ${JSON.stringify(sent, without, 1)};\n`;
    expect(await compile(source)).toBe("");
    // The check itself notices a member that no type has.
    const wrong = source.replace("= [\n {", '= [\n {\n  "unknown_member": 1,');
    expect(await compile(wrong)).toContain("unknown_member");
  },
  60_000,
);
