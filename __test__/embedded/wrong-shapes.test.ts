import { createClient } from "../../index.js";
import { rejection } from "../client/support";
import { setUpSession } from "./support";

test("a model given as a string is refused with the parts of a model", async () => {
  const { host, sessionID } = await setUpSession();
  const error = await rejection(host.sessions.switchModel({ sessionID, model: "fake/m1" as never }));
  expect(error).toMatchObject({
    _tag: "InvalidRequestError",
    message: expect.stringContaining('write model: { providerID: "fake", id: "m1" }'),
  });
});

test("a prompt given as a string over the wire is refused with the form of a prompt", async () => {
  const { host, sessionID } = await setUpSession();
  const response = await host.fetch(`http://opencode.local/api/session/${sessionID}/prompt`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "hi" }),
  });
  expect(response.status).toBe(400);
  await expect(response.json()).resolves.toMatchObject({
    _tag: "InvalidRequestError",
    message: expect.stringContaining('write prompt: { text: "hi" }'),
  });
});

test("an id in place of an input is refused with the form of the input, in memory and over the network", async () => {
  const { host } = await setUpSession();
  const remote = createClient({ baseUrl: "http://opencode.local", fetch: host.fetch });
  for (const client of [host, remote]) {
    const error = await rejection(client.sessions.get("ses_x" as never));
    expect(error).toMatchObject({
      _tag: "InvalidRequestError",
      field: "sessionID",
      message: expect.stringContaining('get({ sessionID: "ses_x" })'),
    });
    const events = client.sessions.events("ses_x" as never)[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toThrow('events({ sessionID: "ses_x" })');
    const slip = await rejection(client.sessions.get({ sessionId: "ses_x" } as never));
    expect(slip.message).toContain("Unknown member sessionId of sessions.get");
  }
});

describe("an unknown member is refused before anything is sent", () => {
  test.each<[string, (client: any) => Promise<unknown>, string, string]>([
    [
      "a directory beside its location",
      (client) => client.sessions.create({ directory: "/x" }),
      "directory",
      "Unknown member directory of sessions.create, which takes id, agent, model, location, title, parentID, permission, budget. " +
        "Did you mean location: { directory }?",
    ],
    [
      "a misspelled text",
      (client) => client.sessions.prompt({ sessionID: "ses_x", prompt: { txt: "hi" } }),
      "prompt.txt",
      "Unknown member prompt.txt of sessions.prompt, whose prompt takes text, files, agents. " +
        "Did you mean prompt.text?",
    ],
    [
      "a file with a path",
      (client) => client.sessions.prompt({ sessionID: "ses_x", prompt: { text: "", files: [{ path: "a" }] } }),
      "prompt.files[0].path",
      "Unknown member prompt.files[0].path of sessions.prompt, " +
        "whose prompt.files[0] takes uri, name, description, source",
    ],
    [
      "a model's name",
      (client) => client.sessions.create({ model: { providerID: "fake", modelID: "m1" } }),
      "model.modelID",
      "Unknown member model.modelID of sessions.create, whose model takes id, providerID, variant",
    ],
    [
      "another name of the workspace",
      (client) => client.agents.list({ location: { workspaceID: "wrk_1" } }),
      "location.workspaceID",
      "Unknown member location.workspaceID of agents.list, whose location takes directory, workspace. " +
        "Did you mean location.workspace?",
    ],
    [
      "an unknown option of a call",
      (client) => client.sessions.list({}, { timeout: 5 }),
      "timeout",
      "Unknown member timeout of the options of sessions.list, which takes signal, headers. " +
        "Did you mean signal: AbortSignal.timeout(ms)?",
    ],
    [
      "an unknown member of a run",
      (client) => client.sessions.run({ prompt: "hi", session: "ses_x" }).result,
      "session",
      "Unknown member session of sessions.run, " +
        "which takes sessionID, prompt, id, agent, model, system, tools, variant, output, delivery, location, unanswered, silentAfterMs. Did you mean sessionID?",
    ],
    [
      "a misspelled time limit of a run",
      (client) => client.sessions.run({ prompt: "hi", unanswered: { denyAfter: 5 } }).result,
      "unanswered.denyAfter",
      "Unknown member unanswered.denyAfter of sessions.run, whose unanswered takes denyAfterMs. " +
        "Did you mean unanswered.denyAfterMs?",
    ],
    [
      "an unknown option of a run",
      (client) => client.sessions.run({ prompt: "hi" }, { abort: true }).result,
      "abort",
      "Unknown member abort of the options of sessions.run, which takes signal, headers",
    ],
  ])("%s", async (_, call, field, message) => {
    const { host, model } = await setUpSession();
    const before = await host.sessions.list();
    const listener = await host.listen();
    for (const client of [host, createClient({ baseUrl: listener.clientUrl })]) {
      const error = await rejection(call(client));
      expect({ ...error }).toEqual({ _tag: "InvalidRequestError", message, field });
    }
    await expect(host.sessions.list()).resolves.toEqual(before);
    expect(model.requests).toEqual([]);
  });

  test("is ignored over the wire, and open sessions are not affected", async () => {
    const { host, sessionID } = await setUpSession();
    const response = await host.fetch("http://opencode.local/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ directory: "/x", location: undefined }),
    });
    expect(response.status).toBe(200);
    const metadata = { any: { thing: [{ deep: true }] } };
    const asked = await host.permissions.create({ sessionID, action: "bash", resources: ["ls"], metadata });
    expect(asked).toMatchObject({ effect: "allow" });
    const input = { sessionID, prompt: { text: "hi", files: undefined, txt: undefined }, resume: false };
    await expect(host.sessions.prompt(input as never)).resolves.toMatchObject({ sessionID });
  });
});
