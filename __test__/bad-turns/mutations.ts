// Changes to answers, as careless servers and models make them.

import { pick, type Random } from "../random.js";
import type { Frame } from "./streams";

/** Values of every type, also those that break careless readers. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  7.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  "",
  " ",
  "\n",
  "0",
  "c1",
  "read",
  "bash",
  "error",
  "stop",
  "length",
  "tool_calls",
  "\ud800",
  "\u0000",
  "\u202e",
  "{}",
  '{"path": "a.txt"',
  "{'path': 'a.txt'}",
  '{"path":"a.txt"}{"path":"a.txt"}',
  '```json\n{"path":"a.txt"}\n```',
  "x".repeat(3000),
  [],
  [null],
  ["a"],
  [{ type: "text", text: "b" }],
  {},
  { text: "x" },
  { path: "a.txt" },
];

/** Names of tools that exist, do not exist, and cannot exist. */
const NAMES = ["read", "glob", "odd", "Read", "read ", "functions.read", "", "a b", "ä", "x".repeat(200)];

/** Text between events. */
const NOISE = [
  ": comment\n\n",
  "data:\n\n",
  "data: {\n\n",
  "data: [DONE]\n\n",
  "event: ping\n\n",
  "\n\n\n",
  "<html>\n\n",
];

/** Changes one to three places of an answer. */
export function mutate(random: Random, answer: readonly Frame[]): Frame[] {
  let frames = structuredClone(answer) as Frame[];
  const changes = 1 + Math.floor(random() * 3);
  for (let change = 0; change < changes; change += 1) frames = pick(random, CHANGES)(random, frames);
  return frames;
}

/** Cuts or damages the bytes of some streams. */
export function damage(random: Random, bytes: Buffer): Buffer {
  const chance = random();
  if (chance < 0.9) return bytes;
  const at = Math.floor(random() * bytes.length);
  if (chance < 0.95) return bytes.subarray(0, at);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from([random() * 256]), bytes.subarray(at + 1)]);
}

type Change = (random: Random, frames: Frame[]) => Frame[];

const CHANGES: readonly Change[] = [
  changeMember,
  changeMember,
  changeMember,
  changeName,
  changeText,
  (random, frames) => frames.filter((_, index) => index !== place(random, frames)),
  (random, frames) => frames.slice(0, place(random, frames)),
  (random, frames) => {
    const at = place(random, frames);
    return [...frames.slice(0, at + 1), ...structuredClone(frames.slice(at))];
  },
  (random, frames) => {
    const [first, second] = [place(random, frames), place(random, frames)];
    return frames.map((frame, index) => (index === first ? frames[second] : index === second ? frames[first] : frame));
  },
  (random, frames) => frames.toSpliced(place(random, frames), 0, pick(random, NOISE)),
  // The same answer twice: every id comes again.
  (random, frames) => (random() < 0.3 ? [...frames, ...structuredClone(frames)] : frames),
];

function place(random: Random, frames: readonly Frame[]) {
  return Math.floor(random() * frames.length);
}

interface Member {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function members(value: unknown, found: Member[] = []): Member[] {
  if (typeof value !== "object" || value === null) return found;
  const parent = value as Record<string, unknown>;
  for (const key of Object.keys(parent)) {
    found.push({ parent, key });
    members(parent[key], found);
  }
  return found;
}

/** Replaces, removes, wraps or renames a member. */
function changeMember(random: Random, frames: Frame[]): Frame[] {
  const all = members(frames).filter(({ parent }) => parent !== (frames as unknown));
  if (all.length === 0) return frames;
  const { parent, key } = pick(random, all);
  const value = parent[key];
  const chance = random();
  if (chance < 0.6) parent[key] = structuredClone(pick(random, VALUES));
  else if (chance < 0.75) delete parent[key];
  else if (chance < 0.85) parent[key] = [value];
  else if (chance < 0.95) parent[key] = typeof value === "string" ? Number(value) || 0 : JSON.stringify(value);
  else parent[`${key}_`] = value;
  return frames;
}

/** Replaces the name of a tool. */
function changeName(random: Random, frames: Frame[]): Frame[] {
  const names = members(frames).filter(({ parent, key }) => key === "name" && typeof parent[key] === "string");
  if (names.length > 0) {
    const { parent, key } = pick(random, names);
    parent[key] = pick(random, NAMES);
  }
  return frames;
}

/** Cuts a text, repeats it, or adds something to it. */
function changeText(random: Random, frames: Frame[]): Frame[] {
  const texts = members(frames).filter(({ parent, key }) => typeof parent[key] === "string");
  if (texts.length === 0) return frames;
  const { parent, key } = pick(random, texts);
  const text = parent[key] as string;
  const at = Math.floor(random() * (text.length + 1));
  parent[key] = pick(random, [
    text.slice(0, at),
    text.slice(at),
    text + text,
    text.toUpperCase(),
    ` ${text}\n`,
    `\ufeff${text}`,
    `${text.slice(0, at)}\n${text.slice(at)}`,
    `${text.slice(0, at)}\\${text.slice(at)}`,
    `${text.slice(0, at)}"${text.slice(at)}`,
  ]);
  return frames;
}
