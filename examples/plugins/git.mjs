// A plugin that informs the model about the branch of a Git repository, and only when it changes.

import { readFile } from "node:fs/promises";
import path from "node:path";

/** @returns {import("opencode-embedded").Plugin} */
export function git() {
  return (host) =>
    host.contextSources.register({
      key: "git/branch",
      load: ({ location }) => readBranch(location.directory),
      baseline: (branch) => `The checked-out branch is ${branch}.`,
      update: (previous, branch) => `The checked-out branch is now ${branch}. It was ${previous}.`,
      removal: () => "No branch is checked out any more.",
    });
}

/** @param {string} directory */
async function readBranch(directory) {
  const head = await readFile(path.join(directory, ".git", "HEAD"), "utf8").catch(() => "");
  return head.match(/^ref: refs\/heads\/(.+)$/m)?.[1];
}
