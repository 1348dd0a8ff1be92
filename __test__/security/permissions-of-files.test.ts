// Files of the host are readable only for its user, for every umask of the process.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { run, setUp } from "../embedded/support";

/** The permissions of a path, such as `600`. */
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

/** The permissions of all entries of a folder: files, and folders with a slash. */
function modes(folder: string) {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const named = found.map((name) => {
    const entry = path.join(folder, name);
    return [statSync(entry).isDirectory() ? `${name}/` : name, mode(entry)] as const;
  });
  return new Map(named);
}

test("creates files with 0600 and folders with 0700 under the umask 000", async () => {
  const setup = await setUp();
  spawnSync("git", ["init", "--quiet"], { cwd: setup.directory });
  setup.write("file.txt", "1");
  const dataDirectory = path.join(setup.root, "data");
  const shared = path.join(setup.root, "shared");
  mkdirSync(shared, { mode: 0o755 });
  const before = process.umask(0);
  try {
    const database = path.join(dataDirectory, "deep", "opencode.db");
    const host = await setup.open({ dataDirectory, database, env: { PATH: process.env["PATH"] } });
    const other = await setup.open({ dataDirectory, database: path.join(shared, "opencode.db"), env: {} });
    setup.model.reply({ tools: [{ name: "bash", input: { command: "seq 1 9000; echo 2 > file.txt" } }] });
    setup.model.reply({ text: "Done" });
    const { id: sessionID } = await host.sessions.create();
    await run(host, sessionID, "Print much and change a file");
    await other.sessions.create();
    const all = modes(dataDirectory);
    const names = [...all.keys()];
    const written = ["deep/opencode.db", "deep/opencode.db-wal", "deep/opencode.db-shm", "deep/opencode.db.lock"];
    expect(names).toEqual(expect.arrayContaining([...written, "deep/"]));
    expect(names.filter((name) => /tool-output\/tool_/.test(name))).toHaveLength(1);
    expect(names.filter((name) => /objects\/..\/.{38}$/.test(name))).not.toEqual([]);
    const wrong = [...all].filter(([name, found]) => found !== (name.endsWith("/") ? "700" : "600"));
    expect(wrong).toEqual([]);
    expect(mode(dataDirectory)).toBe("700");
    // An existing folder keeps the permissions that the user chose.
    expect(mode(shared)).toBe("755");
    expect(new Set(modes(shared).values())).toEqual(new Set(["600"]));
  } finally {
    process.umask(before);
  }
});
