// Encodes requests and decodes answers in each protocol, without a host: a program in Rust calls the adapters.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

execFileSync("cargo", ["bench", "--quiet", "--package", "opencode-protocols", "--bench", "protocols"], {
  cwd: fileURLToPath(new URL("../..", import.meta.url)),
  stdio: ["ignore", "inherit", "inherit"],
});
