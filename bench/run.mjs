// Runs the benches sequentially, each in a new process. Prints one JSON line per figure: {"bench", "unit", "median",
// "min", "max", "runs", "budget"?, "within"?}.
//
//   npm run bench                 all
//   npm run bench -- turn replay  only these
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const all = fs
  .readdirSync(path.join(here, "cases"))
  .map((file) => path.basename(file, ".mjs"))
  .sort();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`unknown bench: ${unknown.join(", ")}; use one of ${all.join(", ")}`);
  process.exit(2);
}

let failed = 0;
for (const name of wanted.length > 0 ? wanted : all) {
  const child = spawn(process.execPath, ["--expose-gc", path.join(here, "cases", `${name}.mjs`)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) failed++;
}
process.exit(failed > 0 ? 1 : 0);
