// Servers of the Model Context Protocol for tests: real ones, and one whose behaviour a test chooses.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { McpServerDescription, McpServerInfo, OpenCodeClient } from "../../index.js";

type LocalServer = Extract<McpServerDescription, { type: "local" }>;

const MODULES = path.join(__dirname, "../../node_modules");
const EVERYTHING = path.join(MODULES, "@modelcontextprotocol/server-everything/dist/index.js");
const FILESYSTEM = path.join(MODULES, "@modelcontextprotocol/server-filesystem/dist/index.js");
const SCRIPTED = path.join(__dirname, "scripted.mjs");

/** The reference server with every feature of the protocol. */
export const everything: LocalServer = { type: "local", command: [process.execPath, EVERYTHING, "stdio"] };

/** The reference server for the files of a directory. */
export function filesystem(directory: string): LocalServer {
  return { type: "local", command: [process.execPath, FILESYSTEM, directory] };
}

/** A server that does as these words of `scripted.mjs` say. */
export function scripted(...words: string[]): LocalServer {
  return { type: "local", command: [process.execPath, SCRIPTED, ...words] };
}

const processes: ChildProcess[] = [];

afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});

/** Starts the reference server behind an address. Returns the address and the process. */
export async function startEverything(port?: number) {
  const used = port ?? (await findPort());
  const env = { ...process.env, PORT: String(used) };
  const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
  processes.push(child);
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes("listening on port")) break;
  }
  return { url: `http://127.0.0.1:${used}/mcp`, port: used, child };
}

/** Kills a process and waits for its end. */
export async function kill(child: ChildProcess) {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** A port that is free now. */
export async function findPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** The server with a name. */
export async function readServer(host: OpenCodeClient, name: string): Promise<McpServerInfo> {
  const { data } = await host.mcp.list();
  const server = data.find((it) => it.name === name);
  if (server === undefined) throw new Error(`There is no server ${name}`);
  return server;
}
