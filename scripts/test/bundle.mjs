// Bundles `ask.mjs` with each bundler as its documentation describes, without settings for our package.

import { mustBeEmpty } from "./checks.mjs";

/**
 * @typedef {import("./scratch.mjs").Scratch} Scratch
 * @typedef {"esm" | "cjs"} Format
 */

const ENTRY = "ask.mjs";

/** @type {Readonly<Record<Format, string>>} The file extensions by which Node recognises the formats. */
const EXTENSIONS = { esm: "mjs", cjs: "cjs" };

/**
 * @param {Format} format
 * @param {Scratch} project
 */
export async function bundleWithEsbuild(format, project) {
  const { build } = await import("esbuild");
  const outfile = project.path(`built-esbuild/ask.${EXTENSIONS[format]}`);
  const { warnings } = await build({
    absWorkingDir: project.folder,
    entryPoints: [ENTRY],
    bundle: true,
    platform: "node",
    format,
    outfile,
    logLevel: "silent",
  });
  mustBeEmpty(warnings.map(({ text }) => text));
  return outfile;
}

/**
 * @param {Format} format
 * @param {Scratch} project
 * @param {Record<string, string>} [externals]
 */
export async function bundleWithWebpack(format, project, externals = {}) {
  const { default: webpack } = await import("webpack");
  const filename = `ask.${EXTENSIONS[format]}`;
  const module = format === "esm";
  const compiler = webpack({
    mode: "production",
    target: "node",
    context: project.folder,
    entry: `./${ENTRY}`,
    externals,
    experiments: { outputModule: module },
    output: { path: project.path("built-webpack"), filename, module },
  });
  const stats = await new Promise((resolve, reject) => {
    compiler?.run((error, result) => (error ? reject(error) : resolve(result)));
  });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  mustBeEmpty([...errors, ...warnings].map(({ message }) => message));
  return project.path("built-webpack", filename);
}

/**
 * @param {Format} format
 * @param {Scratch} project
 */
export async function bundleWithRollup(format, project) {
  const { rollup } = await import("rollup");
  const { nodeResolve } = await import("@rollup/plugin-node-resolve");
  // The package declares a CommonJS module, but it is an ECMAScript module here.
  const { default: plugin } = await import("@rollup/plugin-commonjs");
  const commonjs = /** @type {() => import("rollup").Plugin} */ (/** @type {unknown} */ (plugin));
  /** @type {string[]} */
  const warnings = [];
  const bundle = await rollup({
    input: project.path(ENTRY),
    plugins: [nodeResolve(), commonjs()],
    onwarn: ({ message }) => warnings.push(message),
  });
  const file = project.path(`built-rollup/ask.${EXTENSIONS[format]}`);
  await bundle.write({ file, format });
  await bundle.close();
  mustBeEmpty(warnings);
  return file;
}

/** @param {Scratch} project */
export async function bundleWithVite(project) {
  const { build } = await import("vite");
  const outDir = project.path("built-vite");
  await build({
    root: project.folder,
    configFile: false,
    logLevel: "silent",
    // By default Vite does not bundle packages. Then they would be used as installed.
    ssr: { noExternal: true },
    build: { ssr: ENTRY, outDir },
  });
  return `${outDir}/ask.js`;
}
