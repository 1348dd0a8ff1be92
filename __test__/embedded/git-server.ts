import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import path from "node:path";

/** Creates a repository, and serves it with the protocol of `git://`. */
export async function serveRepository(directory: string) {
  mkdirSync(directory, { recursive: true });
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
  const git = (...rest: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", ...rest], {
      cwd: directory,
      env,
      stdio: "ignore",
    });
  git("init");
  const commit = (content: string) => {
    writeFileSync(path.join(directory, "guide.md"), content);
    git("add", ".");
    git("commit", "-m", content);
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("data", (first) => {
      // The first packet names the service and the repository. Its length is in its first four characters.
      const length = Number.parseInt(first.subarray(0, 4).toString(), 16);
      const child = spawn("git", ["upload-pack", directory], { stdio: ["pipe", "pipe", "ignore"], env });
      child.stdin.on("error", () => {});
      socket.on("close", () => child.kill());
      socket.on("error", () => socket.destroy());
      child.stdin.write(first.subarray(length));
      socket.pipe(child.stdin);
      child.stdout.pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const { port } = server.address() as AddressInfo;
  return { address: `git://127.0.0.1:${port}/owner/guides`, commit, close };
}
