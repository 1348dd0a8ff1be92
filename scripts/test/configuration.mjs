// Checks that the type `OpenCodeConfig` and the table of `crates/location/src/config/shape.rs` have the same members at
// every level. Both are converted to lists of paths, such as `permissions[].effect` and `agents.*.model.providerID`.

import { readFileSync } from "node:fs";
import { inProject } from "../lib/project.mjs";
import { mustBeEmpty } from "./checks.mjs";

/** @typedef {import("typescript/unstable/sync").Type} Type */

const TYPES = "src/host/config.ts";
const TABLE = "crates/location/src/config/shape.rs";

export async function checkConfiguration() {
  const declared = await pathsOfType("OpenCodeConfig");
  const read = pathsOfTable("DOCUMENT");
  mustBeEmpty([
    ...missing(read, declared).map((path) => `${TYPES} lacks ${path}`),
    ...missing(declared, read).map((path) => `${TABLE} lacks ${path}`),
  ]);
}

/**
 * @param {ReadonlySet<string>} wanted
 * @param {ReadonlySet<string>} found
 */
function missing(wanted, found) {
  return [...wanted].filter((path) => !found.has(path));
}

/**
 * The paths within a declared type. The compiler is imported here, because the dependencies may not be installed yet
 * when this file is loaded.
 *
 * @param {string} name
 * @returns {Promise<ReadonlySet<string>>}
 */
async function pathsOfType(name) {
  const { isInterfaceDeclaration } = await import("typescript/unstable/ast/is");
  const { API, TypeFlags } = await import("typescript/unstable/sync");
  const api = new API();
  try {
    const snapshot = api.updateSnapshot({ openProjects: [inProject("tsconfig.json")] });
    const [project] = snapshot.getProjects();
    const source = project?.program.getSourceFile(inProject(TYPES));
    const declared = source?.statements.find((it) => isInterfaceDeclaration(it) && it.name.text === name);
    const type = declared && project?.checker.getTypeAtLocation(declared);
    if (type === undefined || project === undefined) throw new Error(`${TYPES} does not declare ${name}`);
    return pathsWithin(type, project.checker, TypeFlags.Null);
  } finally {
    api.close();
  }
}

/**
 * @param {Type} root
 * @param {import("typescript/unstable/sync").Checker} checker
 * @param {number} nullFlag
 */
function pathsWithin(root, checker, nullFlag) {
  /** @type {Set<string>} */
  const paths = new Set();
  addType(root, "");
  return paths;

  /**
   * @param {Type} type
   * @param {string} path
   */
  function addType(type, path) {
    const forms = type.isUnionType() ? type.getTypes() : [type];
    // A union with null and objects is any JSON value, which has no named members.
    if (forms.some((form) => form.flags & nullFlag)) return;
    for (const form of forms) addForm(form, path);
  }

  /**
   * @param {Type} type
   * @param {string} path
   */
  function addForm(type, path) {
    if (!type.isObjectType() && !type.isIntersectionType()) return;
    if (checker.isArrayLikeType(type) && type.isTypeReference()) {
      for (const element of checker.getTypeArguments(type)) add(element, `${path}[]`);
      return;
    }
    for (const member of checker.getPropertiesOfType(type))
      add(checker.getTypeOfSymbol(member), join(path, member.name));
    for (const { valueType } of checker.getIndexInfosOfType(type)) add(valueType, join(path, "*"));
  }

  /**
   * @param {Type | undefined} type
   * @param {string} path
   */
  function add(type, path) {
    paths.add(path);
    if (type !== undefined) addType(type, path);
  }
}

/** @typedef {{ kind: string, members: [string, Shape][], shapes: Shape[] } | { name: string }} Shape */

/**
 * The paths within a static of the table.
 *
 * @param {string} root
 * @returns {ReadonlySet<string>}
 */
function pathsOfTable(root) {
  const source = readFileSync(inProject(TABLE), "utf8");
  const statics = Array.from(source.matchAll(/static (\w+): Shape =\s(.*?);\n/gs), ([, name = "", text = ""]) => {
    return /** @type {const} */ ([name, parseShape(text)]);
  });
  const shapes = new Map(statics);
  /** @type {Set<string>} */
  const paths = new Set();
  addShape({ name: root }, "");
  return paths;

  /**
   * @param {Shape} shape
   * @param {string} path
   */
  function addShape(shape, path) {
    if ("name" in shape) {
      const named = shapes.get(shape.name);
      if (named === undefined) throw new Error(`${TABLE} has no ${shape.name}`);
      return addShape(named, path);
    }
    for (const [name, member] of shape.members) add(member, join(path, name));
    for (const inner of shape.shapes) {
      if (shape.kind === "Either") addShape(inner, path);
      else add(inner, shape.kind === "List" ? `${path}[]` : join(path, "*"));
    }
  }

  /**
   * @param {Shape} shape
   * @param {string} path
   */
  function add(shape, path) {
    paths.add(path);
    addShape(shape, path);
  }
}

/**
 * Reads an expression of the table, such as `Closed(&[("tokens", &Value)])`.
 *
 * @param {string} text
 * @returns {Shape}
 */
function parseShape(text) {
  const tokens = text.match(/\w+(?=::)|\w+|"[^"]*"|[()[\]]/g)?.filter((token) => token !== "Shape") ?? [];
  const peek = () => tokens[0];
  const take = () => tokens.shift() ?? "";
  return shape();

  /** @returns {Shape} */
  function shape() {
    const kind = take();
    if (/^[A-Z_]{2,}$/.test(kind)) return { name: kind };
    /** @type {[string, Shape][]} */
    const members = [];
    /** @type {Shape[]} */
    const shapes = [];
    if (peek() !== "(") return { kind, members, shapes };
    take();
    while (peek() !== ")") {
      if (peek() === "[") members.push(...list());
      else shapes.push(shape());
    }
    take();
    return { kind, members, shapes };
  }

  /**
   * The members. The words of a `Word` are not members.
   *
   * @returns {[string, Shape][]}
   */
  function list() {
    /** @type {[string, Shape][]} */
    const members = [];
    take();
    while (peek() !== "]") {
      if (take() !== "(") continue;
      members.push([take().slice(1, -1), shape()]);
      take();
    }
    take();
    return members;
  }
}

/**
 * @param {string} path
 * @param {string} name
 */
function join(path, name) {
  return path === "" ? name : `${path}.${name}`;
}
