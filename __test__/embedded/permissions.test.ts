// Permissions and questions through the host: listing, events, answers, saved permissions.

import { isPermissionNotFoundError, isQuestionNotFoundError, type OpenCodeHost } from "../../index.js";
import { rejection } from "../client/support";
import { type Model, readHistory, readTranscript, readUntil, run, setUpSession, subscribe, types } from "./support";

const READ_SECRET = { tools: [{ name: "read", input: { path: ".env" }, id: "c1" }] };

const QUESTION = {
  question: "Which colour?",
  header: "Colour",
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" },
  ],
};
const ASK = { tools: [{ name: "question", input: { questions: [QUESTION] }, id: "c1" }] };

/** A session whose model wants to read a secret file, and the pending permission request. */
async function askingToRead() {
  const started = await setUpSession();
  const { setup, host, model, sessionID } = started;
  setup.write(".env", "SECRET=1");
  model.reply(READ_SECRET, { text: "Done." });
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Read it" } });
  const asked = (await readUntil(live, "permission.v2.asked")).at(-1);
  const [request] = await host.permissions.list({ sessionID });
  if (request === undefined) throw new Error("nothing waits");
  expect(asked).toMatchObject({ location: { directory: setup.directory }, data: request });
  return { ...started, live, request };
}

/** The tool result that the model received. */
function toolResult(model: Model) {
  return String(model.requests.at(-1)?.body.messages.find(({ role }: { role: string }) => role === "tool")?.content);
}

async function settle(host: OpenCodeHost, sessionID: string) {
  await host.sessions.wait({ sessionID });
  expect(await host.permissions.list({ sessionID })).toEqual([]);
}

test("reads a secret file after a client has allowed it", async () => {
  const { host, model, sessionID, live, request } = await askingToRead();
  expect(request).toEqual({
    id: expect.stringMatching(/^per_/),
    sessionID,
    action: "read",
    resources: [".env"],
    save: ["*"],
    source: { type: "tool", messageID: expect.stringMatching(/^msg_/), callID: "c1" },
  });
  const requestID = request.id;
  expect(await host.permissions.get({ sessionID, requestID })).toEqual(request);
  const listed = await host.permissions.listRequests();
  expect(listed).toEqual({ location: await host.location.get(), data: [request] });
  await host.permissions.reply({ sessionID, requestID, reply: "once" });
  const replied = (await readUntil(live, "permission.v2.replied")).at(-1);
  expect(replied).toMatchObject({ data: { sessionID, requestID, reply: "once" } });
  await settle(host, sessionID);
  expect(toolResult(model)).toContain("SECRET=1");
  expect(await host.permissions.listSaved()).toEqual([]);
  const late = await rejection(host.permissions.reply({ sessionID, requestID, reply: "once" }));
  expect(isPermissionNotFoundError(late)).toBe(true);
  expect(late).toMatchObject({ requestID });
});

test("reports a rejection with a message to the model, and ends the activity if there is no message", async () => {
  const first = await askingToRead();
  const reply = { sessionID: first.sessionID, requestID: first.request.id, reply: "reject" } as const;
  await first.host.permissions.reply({ ...reply, message: "it is a secret" });
  await settle(first.host, first.sessionID);
  expect(JSON.parse(toolResult(first.model))).toMatchObject({
    error: { message: "Unable to read .env: it is a secret" },
  });

  const second = await askingToRead();
  const { host, model, sessionID, request } = second;
  await host.permissions.reply({ sessionID, requestID: request.id, reply: "reject" });
  await settle(host, sessionID);
  expect(model.requests).toHaveLength(1);
  expect(types(await readHistory(host, sessionID)).slice(-2)).toEqual(["tool.failed", "step.ended"]);
  model.reply({ text: "All right." });
  await run(host, sessionID, "Go on without");
});

test("saves an answer of `always` for the project until it is removed", async () => {
  const { setup, host, model, sessionID, request } = await askingToRead();
  await host.permissions.reply({ sessionID, requestID: request.id, reply: "always" });
  await settle(host, sessionID);
  const [saved] = await host.permissions.listSaved();
  const counts = { directory: setup.directory, trusted: false };
  const id = expect.stringMatching(/^psv_/);
  expect(saved).toEqual({ id, projectID: "global", action: "read", resource: "*", ...counts });
  await host.close();

  const later = await setup.open();
  const other = await later.sessions.create();
  model.reply(READ_SECRET, { text: "Again." });
  await run(later, other.id, "Read it again");
  expect(toolResult(model)).toContain("SECRET=1");
  await later.permissions.removeSaved({ id: String(saved?.id) });
  expect(await later.permissions.listSaved({ projectID: "global" })).toEqual([]);
  const asked = { sessionID: other.id, action: "read", resources: [".env"] };
  expect(await later.permissions.create(asked)).toMatchObject({ effect: "ask" });
  expect(await later.permissions.create({ ...asked, resources: ["a.txt"] })).toMatchObject({ effect: "allow" });
  expect(await later.permissions.create({ ...asked, agent: "unknown" })).toMatchObject({ effect: "deny" });
});

test.each([["deny"], [{ denyAfterMs: 1 }]] as const)(
  "requests end without an answer if the host has an unanswered policy: %j",
  async (unanswered) => {
    const { setup, host, model, sessionID } = await setUpSession({ permissions: { unanswered } });
    setup.write(".env", "SECRET=1");
    model.reply(
      READ_SECRET,
      { ...ASK, tools: ASK.tools.map((tool) => ({ ...tool, id: "c2" })) },
      { text: "Understood." },
    );
    const live = await subscribe(host);
    await run(host, sessionID, "Read it");
    expect(await readTranscript(host, sessionID)).toEqual([
      "user: Read it",
      "assistant: [read error]",
      "assistant: [question error]",
      "assistant: Understood.",
    ]);
    const observed = await readUntil(live, "question.v2.rejected");
    expect(types(observed).filter((type) => type.includes(".v2."))).toEqual([
      "permission.v2.asked",
      "permission.v2.replied",
      "question.v2.asked",
      "question.v2.rejected",
    ]);
  },
);

test("refuses pending requests when the host closes, and does not restore them", async () => {
  const { setup, host, model, sessionID, live } = await askingToRead();
  await host.close();
  const last = await readUntil(live, "global.disposed");
  expect(types(last)).toContain("permission.v2.replied");
  const later = await setup.open();
  expect(await later.permissions.list({ sessionID })).toEqual([]);
  expect(model.requests).toHaveLength(1);
});

/** A session whose model asks for a colour, and the pending questions. */
async function asking() {
  const started = await setUpSession();
  const { host, model, sessionID } = started;
  model.reply(ASK);
  const live = await subscribe(host);
  await host.sessions.prompt({ sessionID, prompt: { text: "Ask me" } });
  await readUntil(live, "question.v2.asked");
  const [request] = await host.questions.list({ sessionID });
  if (request === undefined) throw new Error("nothing waits");
  return { ...started, request };
}

test("a question waits for its answer, which the model receives", async () => {
  const { host, model, sessionID, request } = await asking();
  expect(request).toEqual({
    id: expect.stringMatching(/^que_/),
    sessionID,
    questions: [QUESTION],
    tool: { messageID: expect.stringMatching(/^msg_/), callID: "c1" },
  });
  expect((await host.questions.listRequests()).data).toEqual([request]);
  model.reply({ text: "Red." });
  const requestID = request.id;
  await host.questions.reply({ sessionID, requestID, answers: [["Red", "or so"]] });
  await host.sessions.wait({ sessionID });
  expect(toolResult(model)).toContain('"Which colour?"="Red, or so"');
  const late = await rejection(host.questions.reject({ sessionID, requestID }));
  expect(isQuestionNotFoundError(late)).toBe(true);
});

test("a rejected question ends the activity, and the next prompt works", async () => {
  const { host, model, sessionID, request } = await asking();
  await host.questions.reject({ sessionID, requestID: request.id });
  await host.sessions.wait({ sessionID });
  expect(types(await readHistory(host, sessionID)).slice(-2)).toEqual(["tool.failed", "step.ended"]);
  model.reply({ text: "I decide myself." });
  await run(host, sessionID, "Decide yourself");
  expect((await readTranscript(host, sessionID)).at(-1)).toBe("assistant: I decide myself.");
});
