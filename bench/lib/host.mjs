import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OpenCode } from "../../index.mjs";

/** A host on a database file in a new folder, and a function that closes and removes both. `more` are options. */
export async function openHost(config, more) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "opencode-bench-"));
  const directory = path.join(root, "project");
  fs.mkdirSync(directory);
  const host = await OpenCode.create({ ...options(root, directory, config), ...more });
  return {
    host,
    root,
    directory,
    async close() {
      await host.close();
      fs.rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A host on the file of a closed `openHost`. */
export function reopenHost(root, config) {
  return OpenCode.create(options(root, path.join(root, "project"), config));
}

export function options(root, directory, config) {
  return { directory, database: path.join(root, "opencode.db"), home: root, env: {}, ...(config ? { config } : {}) };
}
