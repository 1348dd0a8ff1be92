import fs from "node:fs";
import path from "node:path";
import Ajv from "ajv";

const root = path.resolve(__dirname, "../..");
const schema = JSON.parse(fs.readFileSync(path.join(root, "opencode.schema.json"), "utf8")) as object;
const isValid = new Ajv({ strict: true, strictTypes: false }).compile(schema);

test.each([
  {},
  { $schema: "./node_modules/opencode-embedded/opencode.schema.json", theme: "dark", tui: { any: 1 } },
  { model: "openai/gpt-4.1-mini", small_model: { providerID: "a", id: "b" } },
  {
    agents: { build: { steps: 20, color: "#7fa0ff", permissions: [{ action: "bash", resource: "*", effect: "ask" }] } },
  },
  { agent: { build: { prompt: "x", temperature: 0.5, permission: { bash: { "git *": "allow" } } } } },
  { mcp: { files: { type: "local", command: ["a"] }, other: { enabled: false } } },
  { mcp: { timeout: { startup: 1 }, servers: { web: { type: "remote", url: "https://h", oauth: false } } } },
  { provider: { p: { options: { baseURL: "http://h", own: { any: 1 } }, models: { m: { status: "beta" } } } } },
  { references: { docs: { path: "../docs" }, other: "owner/name" }, skills: { paths: ["a"] }, share: true },
])("the schema accepts a document: %j", (document) => {
  expect([isValid(document), isValid.errors]).toEqual([true, null]);
});

test.each([
  { permision: {} },
  { compaction: { atuo: true } },
  { tool_output: { max_lines: 0 } },
  { permissions: [{ action: "bash", resource: "*" }] },
  { permission: { bash: "never" } },
  { agents: { build: { steps: 1.5 } } },
  { references: { docs: { path: "../docs", repository: "owner/name" } } },
  { mcp: { files: { type: "local" } } },
  { share: "never" },
])("the schema refuses a document: %j", (document) => {
  expect(isValid(document)).toBe(false);
});

test("the package exports the schema", () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
    files: string[];
  };
  expect(manifest.exports["./opencode.schema.json"]).toBe("./opencode.schema.json");
  expect(manifest.files).toContain("opencode.schema.json");
});
