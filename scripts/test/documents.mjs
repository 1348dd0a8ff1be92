// Checks that documents agree with the code that they describe, and that their links have targets.

import { existsSync, readFileSync } from "node:fs";
import { findProblem, listDocuments, listPrograms, readAnchors, readLinks, readPrograms } from "../lib/documents.mjs";
import { inProject, listFiles, readJson } from "../lib/project.mjs";
import { renderTerminal } from "../lib/terminal-svg.mjs";
import { mustBeEmpty, mustContain } from "./checks.mjs";

/** The largest number of lines of the README. Further content belongs to `docs/`. */
const MOST_LINES_OF_README = 200;

/** @type {[string, () => unknown][]} */
export const documentChecks = [
  ["every link has a target", checkLinks],
  ["every mentioned document exists", checkMentions],
  ["docs/README.md links every page", checkPages],
  [`the README has at most ${MOST_LINES_OF_README} lines`, checkReadme],
  ["the first program of every page is run", checkFirstPrograms],
  ["docs/errors.md describes every failure", checkErrors],
  ["anchors are generated as GitHub does", checkAnchors],
  ["programs and their comments are found", checkPrograms],
  ["a recording is drawn as a picture", checkPicture],
];

function checkLinks() {
  const links = listDocuments().flatMap((file) => readLinks(file, read(file)));
  if (links.length === 0) throw new Error("No link was found");
  mustBeEmpty(links.map(findProblem).filter((problem) => problem !== undefined));
}

/** Comments and messages name documents by their path. */
function checkMentions() {
  // Programs of tests write other documents.
  const files = listFiles().filter(
    (file) => /\.([cm]?[jt]s|rs|toml|json|yml)$/.test(file) && !/\/(tests|__test__)\//.test(`/${file}`),
  );
  const problems = files.flatMap((file) =>
    Array.from(read(file).matchAll(/\bdocs\/[\w-]+\.md\b/g), ([name]) => name)
      .filter((name) => !existsSync(inProject(name)))
      .map((name) => `${file} mentions ${name}, which does not exist`),
  );
  mustBeEmpty(problems);
}

function checkPages() {
  const map = read("docs/README.md");
  const pages = listDocuments().filter((file) => file.startsWith("docs/") && file !== "docs/README.md");
  const missing = pages.filter((file) => !map.includes(`](${file.slice("docs/".length)})`));
  mustBeEmpty(missing.map((file) => `docs/README.md does not link ${file}`));
}

function checkReadme() {
  const lines = read("README.md").split("\n").length - 1;
  mustBeEmpty(lines > MOST_LINES_OF_README ? [`README.md has ${lines} lines`] : []);
}

function checkFirstPrograms() {
  const silent = listPrograms().filter(({ isFirst, example, reason }) => isFirst && !example && !reason);
  mustBeEmpty(
    silent.map(({ file, line }) => `${file}:${line}: needs <!-- run: {...} --> or <!-- not run: why --> above it`),
  );
}

function checkErrors() {
  const page = read("docs/errors.md");
  const { failures, types } = readJson(inProject("crates/protocol/contract.json"));
  const tags = Object.keys(failures);
  const headings = Array.from(page.matchAll(/^### (\w+Error)$/gm), ([, tag]) => tag);
  const kinds = types.ErrorKind.type.variants.map((/** @type {any} */ variant) => variant.type.value);
  const reasons = wordsOf(read("src/client/types.ts"), '"Transport"');
  const outcomes = wordsOf(read("src/client/run/types.ts"), '"not-started"');
  const rows = [...kinds, ...reasons, ...outcomes].filter((word) => !page.includes(`| \`${word}\` |`));
  mustBeEmpty([
    ...tags.filter((tag) => !headings.includes(tag)).map((tag) => `docs/errors.md does not describe ${tag}`),
    ...headings
      .filter((tag) => !tags.includes(tag))
      .map((tag) => `docs/errors.md describes ${tag}, which does not exist`),
    ...rows.map((word) => `docs/errors.md has no row for ${word}`),
  ]);
}

/**
 * The words of the first union of texts that contains this one.
 *
 * @param {string} declarations
 * @param {string} word Including its quotation marks.
 */
function wordsOf(declarations, word) {
  const unions = Array.from(declarations.matchAll(/"[\w-]+"(?:\s*\|\s*"[\w-]+")+/g), ([union]) => union);
  const found = unions.find((union) => union.includes(word));
  if (found === undefined) throw new Error(`No union declares ${word}`);
  return Array.from(found.matchAll(/"([\w-]+)"/g), ([, text]) => text);
}

function checkAnchors() {
  const anchors = readAnchors(
    "# `sessions.run`: one call\n## What's [this](a.md)?\n```sh\n# no heading\n```\n## What's this?\n",
  );
  const expected = ["sessionsrun-one-call", "whats-this", "whats-this-1"];
  mustBeEmpty(anchors.join() === expected.join() ? [] : [anchors.join()]);
}

function checkPrograms() {
  const page =
    '<!-- run: { "prints": "1" } -->\n\n```ts\n1;\n```\n\n```js\n2;\n```\n\n<!-- not run: why -->\n```ts\n3;\n```\n';
  const [first, second, third] = readPrograms("a.md", page);
  const actual = [first.example?.prints, first.line, first.isFirst, second.reason, second.text, second.isFirst, third];
  const expected = ["1", 4, true, "why", "3;\n", false, undefined];
  mustBeEmpty(actual.every((value, at) => value === expected[at]) ? [] : [JSON.stringify(actual)]);
}

function checkPicture() {
  const picture = renderTerminal({
    title: "A & B",
    command: "run",
    columns: 4,
    chunks: [
      { ms: 0, text: "\u001b[2ma<b\u001b[0m\n" },
      { ms: 1500, text: "12345\n" },
    ],
  });
  mustContain(picture, '<title id="title">A &amp; B</title>');
  mustContain(picture, '<tspan class="dim">a&lt;b</tspan>');
  mustContain(picture, '<tspan style="animation-duration:1.50s">1234</tspan></text>');
  mustContain(picture, '<tspan style="animation-duration:1.50s">5</tspan></text>');
  mustRefuse("\u001b[44m", "control sequence");
  mustRefuse("\u001b[2K", "control character");
  const committed = read("docs/start.svg");
  mustContain(read("README.md"), "docs/start.svg");
  mustContain(committed, "Hello, &lt;name&gt;!");
  mustContain(committed, "</svg>");
}

/**
 * @param {string} text
 * @param {string} part
 */
function mustRefuse(text, part) {
  try {
    renderTerminal({ title: "", command: "", chunks: [{ ms: 0, text }] });
  } catch (error) {
    return mustContain(String(error), part);
  }
  throw new Error(`${JSON.stringify(text)} was drawn`);
}

/** @param {string} file */
function read(file) {
  return readFileSync(inProject(file), "utf8");
}
