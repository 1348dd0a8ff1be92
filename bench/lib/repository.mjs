import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Writes a Git repository with one commit of `files` small files, 100 per folder. */
export function writeRepository(directory, files) {
  for (let n = 0; n < files; n++) {
    const folder = path.join(directory, `part-${Math.floor(n / 1000)}`, `folder-${Math.floor(n / 100)}`);
    if (n % 100 === 0) fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `file-${n}.ts`), source(n));
  }
  const git = (...args) =>
    execFileSync(
      "git",
      ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "maintenance.auto=false", ...args],
      { cwd: directory },
    );
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "All of it");
}

function source(n) {
  const lines = Array.from(
    { length: 20 },
    (_, line) => `  if (input === ${n + line}) return "case ${line} of file ${n}"`,
  );
  return `export function answer${n}(input: number): string {\n${lines.join("\n")}\n  return "none"\n}\n`;
}
