// Projects of an attacker, and the servers and secrets that the attack is about.

import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type {
  ConfigurationDiagnostic,
  OpenCodeHost,
  OpenCodeOptions,
  PermissionAnswer,
  PermissionRequest,
} from "../../index.js";
import type { ToolCall } from "../../testkit/reply.js";
import { startModel } from "../../testkit/model.js";
import { type Model, readMessages, setUp, type Setup } from "../embedded/support";

export { readUntil, run, setUp, subscribe, type Model, type Setup } from "../embedded/support";

/** A text that appears in a request, an event or a list only after a leak. */
export const SECRET = "sk-planted-9c41f7";

/** The variable of the host's environment that holds the secret. */
export const VARIABLE = "MY_PROD_SECRET";

const attackers: Model[] = [];

afterEach(async () => {
  await Promise.all(attackers.splice(0).map((attacker) => attacker.close()));
});

/** A scripted model for an honest host, and a second server that only the project names. */
export async function setUpAttack() {
  const setup = await setUp();
  const attacker = await startModel();
  attackers.push(attacker);
  const secretFile = path.join(setup.root, "id_rsa");
  writeFileSync(secretFile, `${SECRET}\n`);
  return { setup, model: setup.model, attacker, secretFile };
}

export type Attack = Awaited<ReturnType<typeof setUpAttack>>;

/** Options of a host that configures the provider of the scripted model, and none of its models. */
export function hostOptions({ model }: Pick<Attack, "model">, more: OpenCodeOptions = {}): OpenCodeOptions {
  return { env: { [VARIABLE]: SECRET }, config: { provider: providers(model) }, ...more };
}

/** The definition of the scripted model, with a second model. */
export function providers(model: Model) {
  const { mock } = model.config().provider;
  return { mock: { ...mock, models: { ...mock.models, m2: { name: "Mock 2", tool_call: true } } } };
}

/** All data that a server received: each request with its headers, and data that violates its protocol. */
export function received(server: Model) {
  return [...server.requests.map(({ headers, text }) => `${JSON.stringify(headers)} ${text}`), ...server.violations];
}

/** Writes a file of the project. Creates missing parent folders. */
export function writeFile({ directory }: Setup, name: string, content: string | object) {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** Writes the configuration of the user. */
export function writeUserConfig({ root }: Setup, config: object | string, name = "opencode.json") {
  const file = path.join(root, ".config", "opencode", name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
  return file;
}

/** Files that exist only if a command has run. */
export class Canaries {
  readonly directory: string;

  constructor({ root }: Setup) {
    this.directory = path.join(root, "canaries");
    mkdirSync(this.directory);
  }

  /** A shell command that creates a file. */
  command(name: string) {
    return `touch '${path.join(this.directory, name)}'`;
  }

  /** A program that creates a file, and then runs its arguments in a shell. */
  program(setup: Setup, name: string) {
    const file = writeFile(setup, name, `#!/bin/sh\n${this.command(path.basename(name))}\nexec /bin/sh "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** The names of the commands that ran. */
  get ran() {
    return existsSync(this.directory) ? readdirSync(this.directory).sort() : [];
  }
}

let lastCall = 0;

export function call(name: string, input: object): ToolCall {
  return { name, input, id: `call_security_${(lastCall += 1)}` };
}

export const bash = (command: string) => call("bash", { command });

/** The states of all tool calls of a session, as `bash completed`. */
export async function readCalls(host: OpenCodeHost, sessionID: string) {
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.flatMap((part) => (part.type === "tool" ? [`${part.name} ${part.state.status}`] : []));
}

/** Runs one prompt in a new session, in which the model makes these calls. */
export async function runCalls(host: OpenCodeHost, model: Model, ...calls: readonly ToolCall[]) {
  model.reply({ tools: calls }, { text: "Done." });
  return runPrompt(host);
}

/** Hosts with a function for permissions. */
const answered = new WeakSet<OpenCodeHost>();

/** Runs one prompt in a new session. Without a function for permissions, every request is refused at once. */
export async function runPrompt(host: OpenCodeHost) {
  const unanswered = answered.has(host) ? "wait" : "deny";
  const { outcome, reason = "", sessionID } = await host.sessions.run({ prompt: "Go", unanswered }).result;
  return { outcome, reason, sessionID, calls: await readCalls(host, sessionID) };
}

/** Gives the same answer to every permission request. Returns the requests. */
export function answering(host: OpenCodeHost, answer: PermissionAnswer) {
  const asked: PermissionRequest[] = [];
  answered.add(host);
  host.permissions.handle((request) => {
    asked.push(request);
    return answer;
  });
  return asked;
}

/** The diagnostics for values of a file that have no effect because the project is not trusted. */
export async function readWithheld(host: OpenCodeHost): Promise<ConfigurationDiagnostic[]> {
  const { data } = await host.location.diagnostics();
  return data.filter(({ kind, message }) => kind === "ignored" && message.includes("option trust"));
}

/** The effect of the rules for an action of an agent. A request for permission stays open until the host closes. */
export async function effectOf(host: OpenCodeHost, action: string, resource: string, agent = "build") {
  const { id: sessionID } = await host.sessions.create();
  return (await host.permissions.create({ sessionID, action, resources: [resource], agent })).effect;
}

/** The definition of a provider at an address, with one model. */
export function providerAt(baseURL: string, options: object = {}) {
  return { npm: "@ai-sdk/openai-compatible", options: { baseURL, ...options }, models: { m1: { tool_call: true } } };
}

/** Checks that neither the honest model nor the attacker received the secret. */
export function expectNothingLeaked({ model, attacker }: Attack) {
  expect(received(attacker)).toEqual([]);
  expect(received(model).join("\n")).not.toContain(SECRET);
}
