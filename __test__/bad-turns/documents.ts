// The documents of a project, and their changes between two turns, as careless editors make them.

import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pick, type Random } from "../random.js";
import { mutate } from "./mutations";

const CONFIGURATION = {
  $schema: "https://opencode.ai/config.json",
  model: "mock/m1",
  default_agent: "helper",
  agents: {
    reviewer: {
      description: "Reviews changes",
      mode: "subagent",
      system: "You review changes.",
      permissions: [{ action: "edit", resource: "*", effect: "deny" }],
      steps: 20,
    },
    helper: { color: "#00ff00", hidden: false, steps: 30 },
  },
  permissions: [{ action: "read", resource: "*", effect: "allow" }],
  permission: { glob: "allow", edit: { "*": "ask", "a.txt": "allow" } },
  commands: { check: { template: "Check $ARGUMENTS.", description: "Checks", agent: "helper" } },
  instructions: ["RULES.md"],
  skills: ["./texts"],
  references: { texts: "./texts" },
  compaction: { auto: true, prune: true, keep: { tokens: 8_000 }, buffer: 20_000 },
  tool_output: { max_lines: 100, max_bytes: 10_000 },
  attachments: { image: { auto_resize: true, max_width: 500, max_height: 500, max_base64_bytes: 100_000 } },
  snapshots: true,
  share: "manual",
  experimental: { policies: [{ action: "provider.use", effect: "allow", resource: "mock" }] },
  username: "user",
};

/** The documents with their usual texts. */
const DOCUMENTS: Record<string, string> = {
  "opencode.json": JSON.stringify(CONFIGURATION, null, 2),
  ".opencode/agent/helper.md": [
    "---",
    "description: Helps with everything",
    "mode: primary",
    "model: mock/m1",
    "permissions:",
    '  - { action: webfetch, resource: "*", effect: deny }',
    "---",
    "You help.",
    "",
  ].join("\n"),
  ".opencode/command/greet.md": "---\ndescription: Greets\nagent: helper\n---\nGreet $1.\n",
  ".opencode/skills/release/SKILL.md": "---\nname: release\ndescription: Publishes a version.\n---\n1. Publish.\n",
  "AGENTS.md": "Use short sentences.\n",
  "RULES.md": "Be polite.\n",
  "texts/one.md": "---\nname: one\ndescription: The first text.\n---\nOne.\n",
};

/** A change of one document. */
export interface DocumentChange {
  readonly name: string;
  /** The bytes of the document. A function does what no bytes can do. */
  readonly to: Buffer | ((file: string) => void);
}

/** Writes all documents with their usual texts. */
export function writeDocuments(directory: string) {
  for (const [name, text] of Object.entries(DOCUMENTS)) writeDocument(directory, { name, to: Buffer.from(text) });
}

/** Writes one document, and nothing in its place before. */
export function writeDocument(directory: string, { name, to }: DocumentChange) {
  const file = path.join(directory, name);
  rmSync(file, { recursive: true, force: true });
  mkdirSync(path.dirname(file), { recursive: true });
  if (typeof to === "function") to(file);
  else writeFileSync(file, to);
}

/** A changed document. The configuration changes most often. */
export function changeDocument(random: Random): DocumentChange {
  const name = random() < 0.5 ? "opencode.json" : pick(random, Object.keys(DOCUMENTS));
  const chance = random();
  if (chance < 0.1) return { name, to: pick(random, REPLACEMENTS) };
  const text = DOCUMENTS[name]!;
  if (name === "opencode.json" && chance < 0.6) {
    const [changed] = mutate(random, [CONFIGURATION]);
    return { name, to: Buffer.from(JSON.stringify(changed, null, 2) ?? "") };
  }
  return { name, to: pick(random, TEXT_CHANGES)(random, text) };
}

const REPLACEMENTS: readonly ((file: string) => void)[] = [
  () => {},
  (file) => mkdirSync(file),
  (file) => symlinkSync(file, file),
  (file) => symlinkSync("/nowhere", file),
  (file) => writeFileSync(file, ""),
  (file) => writeFileSync(file, "null"),
  (file) => writeFileSync(file, "{".repeat(100_000)),
  (file) => writeFileSync(file, "x".repeat(5_000_000)),
  (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])),
  (file) => writeFileSync(file, "\u0000\u001b[2J\u202e"),
];

type TextChange = (random: Random, text: string) => Buffer;

const TEXT_CHANGES: readonly TextChange[] = [
  // The text ends early.
  (random, text) => Buffer.from(text.slice(0, place(random, text))),
  // Bytes change.
  (random, text) => {
    const bytes = Buffer.from(text);
    for (let change = 0; change < 3; change += 1) bytes[place(random, text)] = Math.floor(random() * 256);
    return bytes;
  },
  // A line stands twice, is missing, or changes its place.
  (random, text) => changeLines(text, (lines) => lines.splice(place(random, lines), 0, pick(random, lines))),
  (random, text) => changeLines(text, (lines) => lines.splice(place(random, lines), 1)),
  (random, text) =>
    changeLines(text, (lines) => {
      const [line = ""] = lines.splice(place(random, lines), 1);
      lines.splice(place(random, lines), 0, line);
    }),
  // Other programs write lines into the text.
  (random, text) => changeLines(text, (lines) => lines.splice(place(random, lines), 0, pick(random, LINES))),
  // A value has another type.
  (random, text) =>
    Buffer.from(text.replaceAll(/: .*/g, (value) => (random() < 0.3 ? `: ${pick(random, LINES)}` : value))),
  // A key has another name.
  (random, text) => Buffer.from(text.replaceAll(/\w+"?:/g, (key) => (random() < 0.2 ? `x${key}` : key))),
];

const LINES = [
  "<<<<<<< HEAD",
  "---",
  "{",
  "}",
  '"model": "mock/none",',
  '"default_agent": "nobody",',
  "model: mock/none",
  "mode: subagent",
  "disabled: true",
  "7",
  "[[[",
  "!!binary x",
  "&a [*a]",
  "null",
  "{env:HOME}",
  "{file:../../../../etc/passwd}",
  "\t- x",
  "\u2028",
];

function place(random: Random, items: { readonly length: number }) {
  return Math.floor(random() * items.length);
}

function changeLines(text: string, change: (lines: string[]) => void) {
  const lines = text.split("\n");
  change(lines);
  return Buffer.from(lines.join("\n"));
}
