import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Attack, Canaries, SECRET, writeFile } from "../support";

/** A repository of an attacker, built in a temporary folder. */
export interface Repository {
  /** The hostile content. */
  readonly name: string;
  readonly build: (trap: Trap) => void;
  /** The outcome of a run in it. `completed` by default. */
  readonly outcome?: "not-started";
  /** True if it takes seconds to build or to read, so that one run is enough. */
  readonly isLarge?: boolean;
}

/** The project folder of an attack, with methods that make it hostile. */
export class Trap {
  readonly attack: Attack;
  readonly canaries: Canaries;
  readonly directory: string;
  /** A folder beside the project, with a secret in it. */
  readonly outside: string;

  constructor(attack: Attack) {
    this.attack = attack;
    this.canaries = new Canaries(attack.setup);
    this.directory = attack.setup.directory;
    this.outside = path.join(attack.setup.root, "outside");
    mkdirSync(this.outside);
    writeFileSync(path.join(this.outside, "secret.md"), `---\nname: stolen\ndescription: ${SECRET}\n---\n${SECRET}\n`);
    this.write("README.md", "A needle in a small project.\n");
  }

  get url() {
    return this.attack.attacker.url;
  }

  get secretFile() {
    return this.attack.secretFile;
  }

  path(name: string) {
    return path.join(this.directory, name);
  }

  write(name: string, content: string | Uint8Array | object) {
    if (!(content instanceof Uint8Array)) return void writeFile(this.attack.setup, name, content);
    this.folder(path.dirname(name));
    writeFileSync(this.path(name), content);
  }

  folder(name: string) {
    mkdirSync(this.path(name), { recursive: true });
  }

  link(name: string, target: string) {
    this.folder(path.dirname(name));
    symlinkSync(target, this.path(name));
  }

  fifo(name: string) {
    this.folder(path.dirname(name));
    execFileSync("mkfifo", [this.path(name)]);
  }

  /** A sparse file of this size. */
  sparse(name: string, bytes: number) {
    this.write(name, "");
    const file = openSync(this.path(name), "r+");
    ftruncateSync(file, bytes);
    closeSync(file);
  }

  /** A program that leaves a trace when it runs. Returns its path. */
  program(name: string) {
    const file = this.path(name);
    this.write(name, `#!/bin/sh\n${this.canaries.command(path.basename(name))}\ncat\n`);
    chmodSync(file, 0o755);
    return file;
  }

  git(...options: string[]) {
    const identity = ["-c", "user.email=t@t", "-c", "user.name=t", "-c", "init.defaultBranch=main"];
    execFileSync("git", [...identity, ...options], { cwd: this.directory, stdio: "ignore" });
  }

  /** Makes the project a repository with one commit. */
  commit() {
    this.git("init");
    this.git("add", "README.md");
    this.git("commit", "--message=first");
  }
}
