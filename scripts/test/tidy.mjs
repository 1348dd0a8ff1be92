// Checks for text that the project's files must not contain.

import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { run } from "../lib/process.mjs";
import { inProject, listFiles, root } from "../lib/project.mjs";
import { mustBeEmpty, runChecks } from "./checks.mjs";

const MOST_LINES_OF_RUST = 500;

/** @type {import("./report.mjs").Stage} */
export const tidy = {
  title: "Tidiness",
  run(say) {
    const files = listFiles().map((file) => ({ file, text: readFileSync(inProject(file), "utf8") }));
    return runChecks(
      [
        ["no paths of a machine", () => mustNotMatch(files, machinePaths())],
        ["no hosts of registries", () => checkRegistries(files)],
        ["no open tasks in comments", () => mustNotMatch(files, [/(?:\/\/|\*|#|--).*\b(?:TO[D]O|FIX[M]E)\b/])],
        [
          "no skipped tests",
          () =>
            mustNotMatch(
              files.filter(({ file }) => isCode(file)),
              SKIPPED,
            ),
        ],
        [`no Rust file over ${MOST_LINES_OF_RUST} lines`, () => checkLength(files)],
        ["comments name their actors and are statements", () => checkComments(files)],
        ["declarations have names without metaphors", () => checkNames(files)],
        ["no ignored file is committed", checkCommitted],
      ],
      say,
    );
  },
};

/** @typedef {{ file: string, text: string }} Text */

/** Compiled files that are committed would replace those of the current sources. A copy without history has none. */
async function checkCommitted() {
  if (!existsSync(inProject(".git"))) return;
  const { code, output } = await run(["git", "-C", root, "ls-files", "--cached", "--ignored", "--exclude-standard"]);
  if (code !== 0) throw new Error(output);
  mustBeEmpty(output.split("\n").filter((line) => line !== ""));
}

const SKIPPED = [
  /#\[ignore\b/,
  /```.*\bignore\b/,
  /\b(?:it|test|describe)\.(?:skip|todo|only)\b/,
  /\b(?:xit|xtest|xdescribe|fit|fdescribe)\(/,
];

/** Words for an actor without a name. */
const UNNAMED = /\b(?:somebody|someone|nobody|anybody|whoever|everybody|no one)\b/i;

/** Beginnings of comments that are questions instead of statements. */
const QUESTION = /^(?:What|Who|Whoever|Whether|How)\b/;

/** The same for sentences inside of comments. */
const QUESTION_INSIDE = /[.;] (?:What|Who|Whoever)\b(?!.*\?)/;

/** Messages and reasons in attributes of Rust, and messages of `expect` and `unreachable`. */
const MESSAGE = /(?:#!?\[|\b(?:reason|description) = |\b(?:expect|unreachable|panic)!?\().*"/;

/** Names that are metaphors, or that have no meaning without their surroundings. */
const METAPHORS =
  "Beside Census Deed Descent Dying Fate Filling GivesUp Grounds How Knowledge Leash Lookout Nature Obstacle Patience Ran " +
  "Relief Standing Stop Story Surroundings Survey Trouble Turned Voice What Who";

const DECLARED_TYPE = new RegExp(
  `\\b(?:class|enum|interface|struct|trait|type) (?:${METAPHORS.replaceAll(" ", "|")})\\b`,
);

const DECLARED_FUNCTION = /\b(?:fn|function|const) \w*(?:somebody|nobody|whoever|patience)\w*\b/i;

/** A tag of JSDoc in front of its description, such as `@param {string} name `. */
const TAG = /^@\w+ +(?:\{.*\} +)?(?:\[?[\w.]+\]? +(?=[A-Z]))?/;

/** @param {readonly Text[]} files */
function checkNames(files) {
  const code = files.filter(({ file }) => isCode(file));
  mustNotMatch(code, [DECLARED_TYPE, DECLARED_FUNCTION]);
}

/**
 * Comments of all code, and the handwritten documents.
 *
 * @param {readonly Text[]} files
 */
function checkComments(files) {
  const code = files.filter(({ file }) => isCode(file));
  const documents = files.filter(({ file }) => /^(?:docs\/)?[^/]+\.md$/.test(file));
  mustNotMatch(documents, [UNNAMED]);
  mustBeEmpty(code.flatMap(({ file, text }) => listOpaqueComments(file, text)));
}

/**
 * @param {string} file
 * @param {string} text
 */
function listOpaqueComments(file, text) {
  let continues = false;
  return text.split("\n").flatMap((line, index) => {
    const comment = line.match(/^\s*(?:\/\/[/!]?|\/\*\*|\*)(?!\/) ?(.*?)(?: ?\*\/)?$/)?.[1];
    const begins = !continues || comment?.startsWith("@");
    continues = comment !== undefined && comment !== "";
    if (comment === undefined) {
      const isUnnamed = MESSAGE.test(line) && UNNAMED.test(line);
      return isUnnamed ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [];
    }
    const isOpaque =
      UNNAMED.test(comment) || QUESTION_INSIDE.test(comment) || (begins && QUESTION.test(comment.replace(TAG, "")));
    return isOpaque ? [`${file}:${index + 1}: ${comment.slice(0, 120)}`] : [];
  });
}

/** @param {string} file */
function isCode(file) {
  return /\.(rs|[cm]?[jt]s)$/.test(file);
}

/** This project's folder, this user's home, and the homes of a Mac and of Windows. */
function machinePaths() {
  const here = [root, `${os.homedir()}${path.sep}`].filter((folder) => folder.length > 3);
  return [...here.map((folder) => new RegExp(escape(folder))), /\/Users\/\w/, /[A-Z]:\\+Users\\/];
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[.+*?^${}()|[\]\\]/g, "\\$&");
}

/**
 * @param {readonly Text[]} files
 * @param {readonly RegExp[]} patterns
 */
function mustNotMatch(files, patterns) {
  const found = files.flatMap(({ file, text }) =>
    text.split("\n").flatMap((line, index) => {
      const hit = patterns.some((pattern) => pattern.test(line));
      return hit ? [`${file}:${index + 1}: ${line.trim().slice(0, 160)}`] : [];
    }),
  );
  mustBeEmpty(found);
}

/**
 * The user chooses the registry. Lock files contain only versions and checksums. Cargo.lock must name crates.io by the
 * address of its index.
 *
 * @param {readonly Text[]} files
 */
function checkRegistries(files) {
  mustNotMatch(
    files.filter(({ file }) => file !== "Cargo.lock"),
    [/https?:\/\/[^/"'\s]*(?:registry|artifactory|nexus|mirror|crates\.io)[^/"'\s]*/, /"resolved": "https?:/],
  );
  const cargoLock = files.filter(({ file }) => file === "Cargo.lock");
  mustNotMatch(cargoLock, [/^source = (?!"registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index"$)/]);
}

/** @param {readonly Text[]} files */
function checkLength(files) {
  const lengths = files.map(({ file, text }) => ({ file, lines: text.split("\n").length - 1 }));
  const long = lengths.filter(({ file, lines }) => file.endsWith(".rs") && lines > MOST_LINES_OF_RUST);
  mustBeEmpty(long.map(({ file, lines }) => `${file}: ${lines} lines`));
}
