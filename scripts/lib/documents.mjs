// The handwritten documents: their TypeScript programs, their links and the anchors of their headings.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { inProject } from "./project.mjs";

/** Generated from the contract. Its code blocks are signatures. */
const GENERATED = "docs/api.md";

/**
 * @typedef {object} Example The run of a program of a document. It is JSON in a comment above the program:
 *   `<!-- run: { "prints": "Hello" } -->`.
 * @property {string} prints A text that the output must contain.
 * @property {readonly object[]} [replies] The replies of the scripted model. Default: one reply with the text `prints`.
 * @property {Readonly<Record<string, string>>} [files] Files that are in the working directory, by path.
 * @property {boolean} [serve] True if a host listens meanwhile, at `OPENCODE_URL`. Default: false.
 *
 * @typedef {object} Program
 * @property {string} file The document, relative to the project.
 * @property {number} line The line of its first character.
 * @property {string} text
 * @property {boolean} isFirst True for the first program of its document.
 * @property {Example | undefined} example Present if the program is run.
 * @property {string | undefined} reason The reason why the first program is not run, from a comment `<!-- not run: ...
 * -->`.
 *
 * @typedef {{ file: string, line: number, target: string }} Link
 */

/** Every document in Markdown, relative to the project, with `/`. */
export function listDocuments() {
  const pages = readdirSync(inProject("docs")).filter((name) => name.endsWith(".md"));
  const atRoot = readdirSync(inProject()).filter((name) => name.endsWith(".md"));
  return [...atRoot, ...pages.map((name) => `docs/${name}`)].sort();
}

/** The programs of all documents, in the order of the documents. */
export function listPrograms() {
  return listDocuments()
    .filter((file) => file !== GENERATED)
    .flatMap((file) => readPrograms(file, read(file)));
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {Program[]}
 */
export function readPrograms(file, text) {
  const blocks = text.matchAll(/(?:^<!-- (run|not run): (.*?) -->\n\n?)?^```ts\n(.*?)^```$/gms);
  return Array.from(blocks, ([block, kind, note, program], at) => ({
    file,
    line: text.slice(0, text.indexOf(program, text.indexOf(block))).split("\n").length,
    text: program,
    isFirst: at === 0,
    example: kind === "run" ? readExample(file, note) : undefined,
    reason: kind === "not run" ? note : undefined,
  }));
}

/**
 * @param {string} file
 * @param {string} note
 * @returns {Example}
 */
function readExample(file, note) {
  try {
    return JSON.parse(note);
  } catch {
    throw new Error(`${file}: the comment above an example is not JSON: ${note}`);
  }
}

/**
 * The links of a document to files of the project. Links in code are not included.
 *
 * @param {string} file
 * @param {string} text
 * @returns {Link[]}
 */
export function readLinks(file, text) {
  return withoutCode(text)
    .split("\n")
    .flatMap((content, at) => {
      const inText = content.matchAll(/\]\(([^)\s]+)\)/g);
      const inTags = content.matchAll(/(?:href|src)="([^"]+)"/g);
      return Array.from([...inText, ...inTags], ([, target]) => ({ file, line: at + 1, target }));
    });
}

/**
 * The problem of a link as a sentence. Undefined if there is none.
 *
 * @param {Link} link
 * @returns {string | undefined}
 */
export function findProblem({ file, line, target }) {
  const local = target.replace(ourPages(), "/");
  if (/^[a-z]+:/.test(local)) return undefined;
  const [place, anchor] = local.split("#");
  const found = place.startsWith("/")
    ? place.slice(1)
    : path.posix.join(path.posix.dirname(file), place || path.posix.basename(file));
  if (!existsSync(inProject(found))) return `${file}:${line}: ${found} does not exist`;
  if (anchor === undefined || readAnchors(read(found)).includes(anchor)) return undefined;
  return `${file}:${line}: ${found} has no heading #${anchor}`;
}

/** Matches the addresses at which the repository shows files of this project. */
function ourPages() {
  return /^https:\/\/github\.com\/opencode-embedded\/opencode-embedded\/(?:blob|tree|raw)\/main\//;
}

/**
 * The anchors that GitHub and npm generate for the headings of a document.
 *
 * @param {string} text
 */
export function readAnchors(text) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return Array.from(withoutBlocks(text).matchAll(/^#{1,6} +(.+?) *$/gm), ([, heading]) => {
    const name = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-");
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
}

/** @param {string} text */
function withoutCode(text) {
  return withoutBlocks(text).replace(/`[^`\n]*`/g, "");
}

/**
 * The same lines, with empty lines instead of code.
 *
 * @param {string} text
 */
function withoutBlocks(text) {
  return text.replace(/^```.*?^```$/gms, (block) => block.replace(/[^\n]/g, ""));
}

/** @param {string} file */
function read(file) {
  return readFileSync(inProject(file), "utf8");
}
