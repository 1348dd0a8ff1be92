// Imports between the modules of a Rust crate.

/** @typedef {{ path: string, text: string }} Source A Rust file and its path inside the folder `src` of its crate. */
/** @typedef {{ path: string, from: string, to: string }} Import An import of the module `to` in a file of the module `from`. */

/** Modules are named by the path from the crate's root: `["drain", "turn"]` is `src/drain/turn.rs`. */
/** @param {string} path */
function moduleOf(path) {
  if (path === "lib.rs" || path === "main.rs") return [];
  const parts = path.replace(/\.rs$/, "").split("/");
  if (parts.at(-1) === "mod") parts.pop();
  return parts;
}

/** @param {string} text */
function withoutComments(text) {
  return text.replace(/\/\/.*/g, "");
}

/** Removes the module of tests at the end of a file. @param {string} text */
function withoutTests(text) {
  const at = text.search(/^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{/m);
  return at === -1 ? text : text.slice(0, at);
}

/**
 * The sources that a host contains: all but the modules that only tests compile.
 *
 * @param {readonly Source[]} sources
 */
function productionSources(sources) {
  const ofTests = sources.flatMap(({ path, text }) => {
    const declared = withoutComments(text).matchAll(/^((?:#\[[^\n]*\]\n)+)(?:pub(?:\(\w+\))? )?mod (\w+);/gm);
    const tested = Array.from(declared).filter(([, attributes]) => attributes?.includes("#[cfg(test)]"));
    return tested.map(([, , name]) => [...moduleOf(path), name].join("/"));
  });
  return sources.filter(({ path }) => {
    const name = moduleOf(path).join("/");
    return !ofTests.some((tests) => name === tests || name.startsWith(`${tests}/`));
  });
}

/** The top-level modules of a crate. @param {readonly Source[]} sources */
export function listModules(sources) {
  const modules = productionSources(sources).flatMap(({ path }) => moduleOf(path).slice(0, 1));
  return [...new Set(modules)].sort();
}

/**
 * The items that a text names by a path that begins with `crate` or `super`, as paths from the crate's root.
 *
 * @param {string} text
 * @param {readonly string[]} own The module that the text is in.
 * @returns {string[][]}
 */
function namedPaths(text, own) {
  const named = [];
  for (const [, start, rest] of text.matchAll(/\b(crate|(?:super::)*super)::(\{|\w+)/g)) {
    const levels = start === "crate" ? own.length : start.split("::").length;
    // A `super` inside a nested inline module does not leave the file.
    if (levels > own.length) continue;
    const base = start === "crate" ? [] : own.slice(0, own.length - levels);
    if (rest !== "{") named.push([...base, rest]);
  }
  for (const [, start, group] of text.matchAll(/\b(crate|(?:super::)*super)::\{((?:[^{}]|\{[^{}]*\})*)\}/g)) {
    const levels = start === "crate" ? own.length : start.split("::").length;
    if (levels > own.length) continue;
    const base = start === "crate" ? [] : own.slice(0, own.length - levels);
    const items = group.replace(/\{[^{}]*\}/g, "").split(",");
    named.push(
      ...items.map((item) => [...base, item.trim().split("::")[0] ?? ""]).filter((path) => path.at(-1) !== ""),
    );
  }
  return named;
}

/**
 * The imports between the top-level modules of a crate, without those of tests and of the crate's root.
 *
 * @param {readonly Source[]} sources
 * @returns {Import[]}
 */
export function listImports(sources) {
  const modules = listModules(sources);
  return productionSources(sources).flatMap(({ path, text }) => {
    const own = moduleOf(path);
    const [from] = own;
    if (from === undefined) return [];
    const targets = namedPaths(withoutTests(withoutComments(text)), own).map(([module]) => module ?? "");
    const others = [...new Set(targets)].filter((module) => module !== from);
    // A name at the root that is no module is an item of the crate's root, which is above all modules.
    return others.map((to) => ({ path, from, to: modules.includes(to) ? to : "the root of the crate" }));
  });
}

/**
 * The imports that do not run down.
 *
 * @param {readonly Source[]} sources
 * @param {readonly string[]} order The top-level modules, each above all modules that it may import.
 */
export function listViolations(sources, order) {
  const modules = listModules(sources);
  const unknown = modules
    .filter((module) => !order.includes(module))
    .map((module) => `the module ${module} is not listed`);
  const removed = order
    .filter((module) => !modules.includes(module))
    .map((module) => `the module ${module} does not exist`);
  const up = listImports(sources).filter(({ from, to }) => {
    const target = order.indexOf(to);
    return target === -1 || target > order.indexOf(from);
  });
  return [...unknown, ...removed, ...up.map(({ path, from, to }) => `${path} of ${from} imports ${to}`)];
}
