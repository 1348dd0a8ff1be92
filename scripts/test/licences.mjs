// Checks the licences of every crate that is compiled for our platforms against the list in `deny.toml`.

import { readFileSync } from "node:fs";
import { listPlatforms } from "../lib/platforms.mjs";
import { inProject } from "../lib/project.mjs";
import { cargo } from "../lib/tools.mjs";
import { mustBeEmpty, mustRun } from "./checks.mjs";

/** Fails if a crate has a licence that is not allowed, or if no crate has an allowed licence. */
export async function checkLicences() {
  const allowed = readAllowed();
  const targets = listPlatforms().flatMap(({ target }) => ["--filter-platform", target]);
  const metadata = cargo("metadata", "--locked", "--format-version", "1", ...targets);
  const { packages } = JSON.parse(await mustRun(metadata));
  const crates = packages.filter((/** @type {{ source: string | null }} */ { source }) => source !== null);
  const used = new Set();
  const refused = crates.flatMap((/** @type {{ id: string, license: string | null }} */ { id, license }) => {
    if (license !== null && isAllowed(license, (name) => allowed.includes(name) && used.add(name))) return [];
    return [`${id}: ${license ?? "no licence"}`];
  });
  const spare = allowed.filter((name) => !used.has(name)).map((name) => `deny.toml allows ${name}, which no crate has`);
  mustBeEmpty([...refused, ...spare]);
}

function readAllowed() {
  const list = readFileSync(inProject("deny.toml"), "utf8").match(/^\[licenses\][^[]*allow = \[(.*?)\]/ms)?.[1] ?? "";
  return Array.from(list.matchAll(/"(.+?)"/g), ([, name]) => name);
}

/**
 * True if allowed licences satisfy an SPDX expression. Old crates have `/` instead of `OR`.
 *
 * @param {string} expression
 * @param {(licence: string) => unknown} allows Called with every licence.
 */
function isAllowed(expression, allows) {
  const tokens = expression.replaceAll("/", " OR ").match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const takes = (/** @type {string} */ token) => tokens[at] === token && (at += 1) > 0;
  const any = () => {
    let result = all();
    while (takes("OR")) result = all() || result;
    return result;
  };
  const all = () => {
    let result = one();
    while (takes("AND")) result = one() && result;
    return result;
  };
  /** @returns {boolean} */
  const one = () => {
    if (takes("(")) {
      const result = any();
      takes(")");
      return result;
    }
    const licence = tokens[at++];
    // An exception only removes conditions.
    if (takes("WITH")) at += 1;
    return Boolean(allows(licence));
  };
  return any() && at === tokens.length;
}
