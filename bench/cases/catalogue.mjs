// Opens a host in a new process and reads the first list of models: with an empty list in a file, and with the list that
// the addon contains and the key of one of its providers. The difference is the cost of the list of the addon.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OpenCode } from "../../index.mjs";
import { options } from "../lib/host.mjs";
import { median, report, time } from "../lib/report.mjs";

const RUNS = 11;
const KEY = "ANTHROPIC_API_KEY";
const [, here, mode] = process.argv;

if (mode === undefined) {
  const measured = (name) =>
    Array.from({ length: RUNS }, () =>
      JSON.parse(execFileSync(process.execPath, ["--expose-gc", here, name], { encoding: "utf8" })),
    );
  const [without, used] = [measured("empty"), measured("addon")];
  if (without.some(({ models }) => models > 0) || used.some(({ models }) => models === 0)) {
    throw new Error("the lists do not decide about the models");
  }
  const base = (name) => median(without.map((it) => it[name]));
  const more = (name) => used.map((it) => it[name] - base(name));
  report("first list of models with the list of the addon, added time", "ms", more("ms"), { atMost: 5 });
  report("first list of models with the list of the addon, added memory", "MiB", more("mebibytes"), { atMost: 6 });
} else {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
  const list = path.join(root, "models.json");
  fs.writeFileSync(list, "{}");
  const env = { [KEY]: "sk-bench", ...(mode === "empty" ? { OPENCODE_MODELS_PATH: list } : {}) };
  const host = await OpenCode.create({ ...options(root, root), env });
  const before = memory();
  let models = 0;
  const ms = await time(async () => {
    models = (await host.models.list()).data.length;
  });
  console.log(JSON.stringify({ ms, mebibytes: memory() - before, models }));
  await host.close();
  fs.rmSync(root, { recursive: true, force: true });
}

/** Resident memory after a collection, in MiB. */
function memory() {
  globalThis.gc();
  return process.memoryUsage().rss / 1024 / 1024;
}
