// The JavaScript of a published package. Node takes about half a millisecond and 100 KiB for each file that it loads, so
// the modules of `src/` are joined: one file for the client, one for the host, one for the AI SDK. The host and the AI SDK
// load the client from its file, so that there is one copy of every class in a process.

import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { inProject, readManifest } from "./project.mjs";

/** @typedef {import("esbuild").Plugin} Plugin */

/** The modules of the client. */
const CLIENT = inProject("src/client");

/** The file with all modules of the client, within `dist/`. It exports each module under its path. */
const ALL_OF_CLIENT = "client/modules.js";

/** Entry points with the exports of one module of the client. Node finds the names of exports without running a file. */
const OF_CLIENT = ["client/index", "client/generated/guards"];

/** Modules that stay files of their own: the first file must be readable by older versions of Node. */
const ALONE = ["host/node-version", "host/inlined-addon", "host/no-inlined-addon"];

/**
 * Replaces the JavaScript in a copy of `dist/` by bundles.
 *
 * @param {string} dist The folder. It contains the compiled sources.
 */
export async function bundleModules(dist) {
  const { build } = await import("esbuild");
  const { name } = readManifest();
  for (const file of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (file.endsWith(".js")) rmSync(path.join(dist, file));
  }
  /** @type {import("esbuild").BuildOptions} */
  const common = {
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    charset: "utf8",
    logLevel: "error",
    // The runtime chooses the module of an addon, which stands in the package of a platform.
    external: ["#inlined-addon", `${name}-*`],
  };
  const modules = clientModules();
  await build({
    ...common,
    stdin: { contents: modules.map(exportModule).join("\n"), resolveDir: CLIENT, loader: "ts" },
    platform: "neutral",
    outfile: path.join(dist, ALL_OF_CLIENT),
  });
  for (const entry of OF_CLIENT)
    writeReexport(dist, entry, modules.indexOf(`${path.posix.relative("client", entry)}.ts`));
  for (const entry of ["index", "ai-sdk/index", ...ALONE]) {
    await build({
      ...common,
      entryPoints: [inProject("src", `${entry}.ts`)],
      outfile: path.join(dist, `${entry}.js`),
      plugins: [clientIsAFile(modules, path.posix.dirname(entry))],
    });
  }
}

/** The paths of the modules of the client. */
function clientModules() {
  const files = readdirSync(CLIENT, { recursive: true, encoding: "utf8" });
  return files
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".ts"))
    .sort();
}

/**
 * @param {string} file
 * @param {number} number
 */
function exportModule(file, number) {
  return `export * as m${number} from ${JSON.stringify(`./${file}`)};`;
}

/**
 * Resolves the modules of the client to the file that contains them.
 *
 * @param {readonly string[]} modules
 * @param {string} folder The folder of the bundle within `dist/`.
 * @returns {Plugin}
 */
function clientIsAFile(modules, folder) {
  const request = requestOfClient(folder);
  return {
    name: "client",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ path: imported, resolveDir, namespace }) => {
        if (namespace === "client") return { path: imported, external: true };
        const found = path.resolve(resolveDir, imported.replace(/\.js$/, ".ts"));
        const number = modules.indexOf(path.relative(CLIENT, found).replaceAll("\\", "/"));
        return number === -1 ? undefined : { path: String(number), namespace: "client" };
      });
      build.onLoad({ filter: /./, namespace: "client" }, ({ path: number }) => ({
        contents: `module.exports = require(${JSON.stringify(request)}).m${number};`,
      }));
    },
  };
}

/** @param {string} folder A folder within `dist/`. */
function requestOfClient(folder) {
  const file = path.posix.relative(folder, ALL_OF_CLIENT);
  return file.startsWith(".") ? file : `./${file}`;
}

/**
 * Writes an entry point with the exports of a module of the client.
 *
 * @param {string} dist
 * @param {string} entry
 * @param {number} number
 */
function writeReexport(dist, entry, number) {
  const exported = Object.keys(createRequire(import.meta.url)(inProject("dist", `${entry}.js`)));
  const lines = exported.map((member) => `exports.${member} = module_.${member};`);
  const first = `const module_ = require("${requestOfClient(path.posix.dirname(entry))}").m${number};`;
  writeFileSync(path.join(dist, `${entry}.js`), ['"use strict";', first, ...lines, ""].join("\n"));
}
