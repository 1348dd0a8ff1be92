import fs from "node:fs";
import path from "node:path";

/** Writes 50 skills of a few lines each into a project's configuration folder. */
export function writeSkills(directory) {
  for (let n = 0; n < 50; n++) {
    const folder = path.join(directory, ".opencode", "skills", `skill-${n}`);
    fs.mkdirSync(folder, { recursive: true });
    const text = `---\nname: skill-${n}\ndescription: What to do in case ${n}.\n---\n\n${"Do this, then that.\n".repeat(40)}`;
    fs.writeFileSync(path.join(folder, "SKILL.md"), text);
  }
}

/** Configuration with a provider of 200 models, written into a project. */
export function writeModels(directory) {
  const model = (n) => ({
    name: `Model ${n}`,
    limit: { context: 200_000, output: 8_000 },
    cost: { input: 1 + n / 100, output: 5, cache_read: 0.1, cache_write: 1.25 },
    release_date: "2026-01-01",
    tool_call: true,
  });
  const models = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`model-${n}`, model(n)]));
  const many = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: "http://127.0.0.1:9/v1", apiKey: "secret" },
    models,
  };
  fs.writeFileSync(path.join(directory, "opencode.json"), JSON.stringify({ provider: { many } }));
}

/** Writes AGENTS.md into this folder and its three parents. */
export function writeInstructions(directory) {
  for (let at = directory, n = 0; n < 4; at = path.dirname(at), n++) {
    fs.writeFileSync(path.join(at, "AGENTS.md"), `# Rules ${n}\n\n${"Write short functions.\n".repeat(100)}`);
  }
}
