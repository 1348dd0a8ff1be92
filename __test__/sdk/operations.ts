import type { Setup } from "../embedded/support";
import { oneAttempt, type Sdk } from "./support";

/** The expected answer of an operation: a status, or a stream. */
export type Expected = 200 | 204 | 400 | 404 | "stream";

/** The results of earlier calls of a run, for the calls after them. */
export interface Place {
  readonly setup: Setup;
  readonly directory: string;
  readonly sessionID: string;
  messageID: string;
  ptyID: string;
  readonly signal: AbortSignal;
}

export type Row = readonly [operation: string, expected: Expected, call: (v2: Sdk, at: Place) => Promise<unknown>];

const model = { providerID: "mock", id: "m1" };
const permission = { requestID: "per_none" };
const question = { requestID: "que_none" };
const attempt = { attemptID: "att_none" };
const integration = { integrationID: "mock" };

/** Every method of the published SDK that can succeed, in an order in which each finds its prerequisites. */
export const rows: readonly Row[] = [
  ["health.get", 200, (v2) => v2.health.get()],
  ["location.get", 200, (v2) => v2.location.get()],
  ["agent.list", 200, (v2) => v2.agent.list()],
  ["model.list", 200, (v2) => v2.model.list()],
  ["provider.list", 200, (v2) => v2.provider.list()],
  ["provider.get", 200, (v2) => v2.provider.get({ providerID: "mock" })],
  ["command.list", 200, (v2) => v2.command.list()],
  ["skill.list", 200, (v2) => v2.skill.list()],
  ["reference.list", 200, (v2) => v2.reference.list()],

  [
    "session.create",
    200,
    (v2, { sessionID, directory }) => v2.session.create({ id: sessionID, agent: "build", location: { directory } }),
  ],
  ["session.get", 200, (v2, at) => v2.session.get(at)],
  ["session.list", 200, (v2) => v2.session.list({ limit: 5, order: "asc" })],
  ["session.switchAgent", 204, (v2, { sessionID }) => v2.session.switchAgent({ sessionID, agent: "plan" })],
  ["session.switchModel", 204, (v2, { sessionID }) => v2.session.switchModel({ sessionID, model })],
  ["event.subscribe", "stream", async (v2, { signal }) => (await v2.event.subscribe(oneAttempt(signal))).stream],
  [
    "session.events",
    "stream",
    async (v2, { sessionID, signal }) =>
      (await v2.session.events({ sessionID, after: "0" }, oneAttempt(signal))).stream,
  ],
  [
    "session.prompt",
    200,
    (v2, { sessionID, messageID }) =>
      v2.session.prompt({ sessionID, id: messageID, prompt: { text: "Hi", agents: [{ name: "plan" }] } }),
  ],
  ["session.wait", 204, (v2, at) => v2.session.wait(at)],
  ["session.active", 200, (v2) => v2.session.active()],
  ["session.messages", 200, (v2, { sessionID }) => v2.session.messages({ sessionID, order: "asc", limit: 200 })],
  ["session.message", 200, (v2, { sessionID, messageID }) => v2.session.message({ sessionID, messageID })],
  ["session.context", 200, (v2, at) => v2.session.context(at)],
  ["session.history", 200, (v2, { sessionID }) => v2.session.history({ sessionID, limit: 100, after: 1 })],
  ["session.compact", 204, (v2, at) => v2.session.compact(at)],
  ["session.interrupt", 204, (v2, at) => v2.session.interrupt(at)],

  // All actions are allowed at this point, so no request is created.
  [
    "session.permission.create",
    200,
    (v2, { sessionID }) => v2.session.permission.create({ sessionID, action: "edit", resources: ["a.txt"] }),
  ],
  ["session.permission.list", 200, (v2, at) => v2.session.permission.list(at)],
  ["session.permission.get", 404, (v2, { sessionID }) => v2.session.permission.get({ sessionID, ...permission })],
  [
    "session.permission.reply",
    404,
    (v2, { sessionID }) => v2.session.permission.reply({ sessionID, ...permission, reply: "once" }),
  ],
  ["permission.request.list", 200, (v2) => v2.permission.request.list()],
  ["permission.saved.list", 200, (v2) => v2.permission.saved.list()],
  ["permission.saved.remove", 204, (v2) => v2.permission.saved.remove({ id: "psv_none" })],

  ["session.question.list", 200, (v2, at) => v2.session.question.list(at)],
  [
    "session.question.reply",
    404,
    (v2, { sessionID }) =>
      v2.session.question.reply({ sessionID, ...question, questionV2Reply: { answers: [["Yes"]] } }),
  ],
  ["session.question.reject", 404, (v2, { sessionID }) => v2.session.question.reject({ sessionID, ...question })],
  ["question.request.list", 200, (v2) => v2.question.request.list()],

  ["session.revert.stage", 200, (v2, { sessionID, messageID }) => v2.session.revert.stage({ sessionID, messageID })],
  ["session.revert.clear", 204, (v2, at) => v2.session.revert.clear(at)],
  ["session.revert.commit", 204, (v2, at) => v2.session.revert.commit(at)],

  ["fs.list", 200, (v2) => v2.fs.list({ path: "." })],
  ["fs.find", 200, (v2) => v2.fs.find({ query: "a" })],

  [
    "pty.create",
    200,
    async (v2, at) => {
      const created = await v2.pty.create({ command: "sh" });
      at.ptyID = created.data?.data.id ?? "";
      return created;
    },
  ],
  ["pty.list", 200, (v2) => v2.pty.list()],
  ["pty.get", 200, (v2, { ptyID }) => v2.pty.get({ ptyID })],
  ["pty.update", 200, (v2, { ptyID }) => v2.pty.update({ ptyID, title: "Shell", size: { rows: 30, cols: 100 } })],
  ["pty.remove", 204, (v2, { ptyID }) => v2.pty.remove({ ptyID })],

  // There are no integrations yet, so every one is unknown.
  ["integration.list", 200, (v2) => v2.integration.list()],
  ["integration.get", 200, (v2) => v2.integration.get(integration)],
  ["integration.connect.key", 400, (v2) => v2.integration.connect.key({ ...integration, key: "secret" })],
  [
    "integration.connect.oauth",
    400,
    (v2) => v2.integration.connect.oauth({ ...integration, methodID: "oauth", inputs: {} }),
  ],
  ["integration.attempt.status", 400, (v2) => v2.integration.attempt.status(attempt)],
  ["integration.attempt.complete", 400, (v2) => v2.integration.attempt.complete(attempt)],
  ["integration.attempt.cancel", 204, (v2) => v2.integration.attempt.cancel(attempt)],
  ["credential.update", 204, (v2) => v2.credential.update({ credentialID: "crd_none", label: "Mine" })],
  ["credential.remove", 204, (v2) => v2.credential.remove({ credentialID: "crd_none" })],
];

/** The operations that the SDK cannot call: a path with slashes, a socket, and a header that it does not send. */
export const uncallable = ["fs.read", "pty.connect", "pty.connectToken"];
