// Git data that names programs, other folders and other repositories, or is endless.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SECRET } from "../support";
import type { Repository, Trap } from "./trap";

const HOOKS = [
  "fsmonitor-watchman",
  "post-checkout",
  "post-commit",
  "post-index-change",
  "pre-auto-gc",
  "pre-commit",
  "prepare-commit-msg",
  "reference-transaction",
];

/** Hooks, filters and drivers under every key that makes Git run a program. */
function programs(trap: Trap) {
  const program = trap.program("evil.sh");
  for (const hook of HOOKS) {
    trap.write(`.git/hooks/${hook}`, `#!/bin/sh\n${trap.canaries.command(hook)}\n`);
    chmodSync(trap.path(`.git/hooks/${hook}`), 0o755);
  }
  trap.write(".gitattributes", "* filter=evil diff=evil merge=evil text working-tree-encoding=UTF-16\n");
  const keys = ["clean", "smudge", "process"].map((key) => `filter.evil.${key}`);
  const drivers = ["diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "diff.external"];
  const others = ["core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "gpg.program"];
  for (const key of [...keys, ...drivers, ...others]) trap.git("config", key, program);
  trap.git("config", "filter.evil.required", "true");
  trap.git("config", "credential.helper", `!${program}`);
  trap.git("config", "alias.rev-list", `!${program}`);
  trap.git("config", "alias.status", `!${program}`);
  trap.git("config", "core.untrackedCache", "true");
}

/** A repository of the user beside the project, with a secret in its configuration and in its files. */
function ofUser({ outside }: Trap) {
  const directory = path.join(outside, "mine");
  mkdirSync(directory);
  const git = (...options: string[]) => {
    execFileSync("git", ["-c", "user.email=t@t", "-c", "user.name=t", ...options], { cwd: directory, stdio: "ignore" });
  };
  git("init");
  writeFileSync(path.join(directory, "notes.md"), SECRET);
  writeFileSync(path.join(directory, "AGENTS.md"), SECRET);
  git("add", "--all");
  git("commit", `--message=${SECRET}`);
  git("remote", "add", "origin", `https://ada:${SECRET}@git.example.test/ada/mine.git`);
  return directory;
}

export const GIT: readonly Repository[] = [
  {
    name: "hooks, filters and drivers",
    build: (trap) => {
      trap.commit();
      programs(trap);
      trap.write("README.md", "A needle, changed.\n");
    },
  },
  {
    name: "a folder of hooks elsewhere",
    build: (trap) => {
      trap.commit();
      for (const hook of HOOKS) trap.program(`hooks/${hook}`);
      trap.git("config", "core.hooksPath", trap.path("hooks"));
    },
  },
  {
    name: "the parent folder as worktree",
    build: (trap) => {
      trap.commit();
      trap.git("config", "core.worktree", "../..");
      trap.write("opencode.json", { instructions: ["../id_rsa"], agent: { build: { prompt: "{file:../id_rsa}" } } });
      trap.link("AGENTS.md", "../id_rsa");
    },
  },
  {
    name: "the root directory as worktree",
    build: (trap) => {
      trap.commit();
      trap.git("config", "core.worktree", "/");
      trap.git("config", "extensions.worktreeConfig", "true");
      trap.write(".git/config.worktree", "[core]\n\tworktree = /\n");
      trap.link("AGENTS.md", trap.secretFile);
      trap.write("opencode.json", {
        instructions: [trap.secretFile],
        agent: { build: { prompt: `{file:${trap.secretFile}}` } },
      });
    },
  },
  {
    name: "a .git file that points to a repository of the user",
    build: (trap) => {
      const mine = ofUser(trap);
      trap.write(".git", `gitdir: ${path.join(mine, ".git")}\n`);
      trap.write("opencode.json", { instructions: [path.join(mine, "notes.md")], references: { mine } });
    },
  },
  {
    name: "a .git that is a link to a repository of the user",
    build: (trap) => trap.link(".git", path.join(ofUser(trap), ".git")),
  },
  {
    name: "a linked worktree of a repository of the user",
    build: (trap) => {
      const mine = ofUser(trap);
      trap.write(".git", "gitdir: gitdir\n");
      trap.write("gitdir/HEAD", "ref: refs/heads/master\n");
      trap.write("gitdir/commondir", `${path.join(mine, ".git")}\n`);
      trap.write("gitdir/gitdir", `${path.join(mine, ".git")}\n`);
    },
  },
  {
    name: "a .git file that points to itself",
    build: (trap) => trap.write(".git", "gitdir: .git\n"),
  },
  {
    name: "a .git that is a pipe",
    build: (trap) => trap.fifo(".git"),
  },
  {
    name: "a .git that is a device",
    build: (trap) => trap.link(".git", "/dev/zero"),
  },
  {
    name: "a .git file of 1 GiB",
    build: (trap) => trap.sparse(".git", 2 ** 30),
  },
  {
    name: "a configuration and a head that are pipes, and an index that is a device",
    build: (trap) => {
      trap.folder(".git/objects");
      trap.folder(".git/refs");
      trap.fifo(".git/config");
      trap.fifo(".git/HEAD");
      trap.link(".git/index", "/dev/zero");
      trap.link(".git/packed-refs", "/dev/zero");
    },
  },
  {
    name: "a configuration of Git that includes other files",
    build: (trap) => {
      trap.commit();
      trap.git("config", "include.path", trap.secretFile);
      trap.git("config", "core.excludesFile", trap.secretFile);
      trap.git("config", "core.attributesFile", trap.secretFile);
      trap.git("config", "commit.template", trap.secretFile);
      rmSync(trap.path(".git/info"), { recursive: true, force: true });
      trap.link(".git/info/exclude", trap.secretFile);
    },
  },
  {
    name: "a partial clone with a program as remote",
    build: (trap) => {
      trap.commit();
      const program = trap.program("evil.sh");
      trap.git("config", "extensions.partialClone", "origin");
      trap.git("config", "remote.origin.promisor", "true");
      trap.git("config", "remote.origin.uploadpack", program);
      trap.git("config", "remote.origin.vcs", "evil");
      trap.git("config", "protocol.allow", "always");
      trap.git("config", "protocol.ext.allow", "always");
      trap.git("config", "remote.origin.pushurl", `ext::${program}`);
      // Has no address, because an address would be the identity of the project and Git would not be called.
      trap.write(".git/refs/heads/main", `${"1".repeat(40)}\n`);
    },
  },
  {
    name: "objects of a repository of the user",
    build: (trap) => {
      const mine = ofUser(trap);
      trap.commit();
      trap.write(".git/objects/info/alternates", `${path.join(mine, ".git", "objects")}\n`);
    },
  },
  {
    name: "submodules and nested repositories",
    build: (trap) => {
      trap.commit();
      const program = trap.program("evil.sh");
      trap.write(".gitmodules", `[submodule "evil"]\n\tpath = sub\n\turl = ext::${program}\n\tupdate = !${program}\n`);
      for (const name of ["sub", "sub/deeper", "GIT~1", ".GIT"]) {
        trap.write(`${name}/.git/HEAD`, "ref: refs/heads/main\n");
        trap.write(`${name}/.git/config`, `[core]\n\tfsmonitor = ${program}\n\thooksPath = ${trap.path("hooks")}\n`);
      }
    },
  },
  {
    name: "an identity with a secret, and one that is not an address",
    build: (trap) => {
      trap.commit();
      trap.git("config", "remote.origin.url", `ext::${trap.program("evil.sh")} https://x`);
    },
  },
  {
    name: "endless ignore files",
    build: (trap) => {
      trap.commit();
      trap.write(".gitignore", "!".repeat(1_000_000));
      trap.write("sub/.gitignore", `${"a*".repeat(2_000)}\n`.repeat(1_000));
      trap.write(`sub/${"a".repeat(200)}`, "");
      trap.fifo("pipe/.gitignore");
      trap.link("device/.gitignore", "/dev/zero");
      trap.link("stolen/.gitignore", trap.secretFile);
    },
  },
];
