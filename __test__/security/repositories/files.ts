// Files and folders that leave the project, are endless, or have unusual names.

import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Repository } from "./trap";

const NAMES = ["new\nline", "bell\u0007\u001b[2J", "-rf", " ", "quote'\"$(touch ran)`touch ran`", "\u202egnp.txt"];

export const FILES: readonly Repository[] = [
  {
    name: "links to secrets, folders and devices",
    build: (trap) => {
      trap.link("link", trap.secretFile);
      trap.link("door", trap.outside);
      trap.link("root", "/");
      trap.link("self", "/proc/self");
      trap.link("zero", "/dev/zero");
      trap.link("loop", "loop");
      trap.link("above", "..");
      trap.link("here", ".");
    },
  },
  {
    name: "pipes",
    build: (trap) => {
      for (const name of ["pipe", "sub/pipe.md", "pipe.txt"]) trap.fifo(name);
    },
  },
  {
    name: "ten thousand files in one folder",
    isLarge: true,
    build: (trap) => {
      trap.folder("many");
      for (let number = 0; number < 10_000; number += 1) writeFileSync(trap.path(`many/${number}`), "");
    },
  },
  {
    name: "five hundred levels of folders",
    build: (trap) => {
      // Longer than the limit of a path, so it is created step by step.
      const levels = Array.from({ length: 500 }, () => "deep");
      trap.write(`${levels.join("/")}/file.txt`, "needle\n");
    },
  },
  { name: "a file of 1 GiB", build: (trap) => trap.sparse("huge.txt", 2 ** 30) },
  {
    name: "one line of 8 MiB",
    build: (trap) => trap.write("line.txt", `${"needle ".repeat(2 ** 20)}\n`),
  },
  {
    name: "unusual names",
    build: (trap) => {
      for (const name of NAMES) trap.write(name, "needle\n");
      const noText = Buffer.concat([Buffer.from(`${trap.directory}${path.sep}`), Buffer.of(0x6e, 0xff, 0xfe)]);
      writeFileSync(noText, "needle\n");
    },
  },
];
