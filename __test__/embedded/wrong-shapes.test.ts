import { createClient } from "../../index.js";
import { rejection } from "../client/support";
import { setUpSession } from "./support";

test("a model by its name is answered with its parts", async () => {
  const { host, sessionID } = await setUpSession();
  const error = await rejection(host.sessions.switchModel({ sessionID, model: "fake/m1" as never }));
  expect(error).toMatchObject({
    _tag: "InvalidRequestError",
    message: expect.stringContaining('write model: { providerID: "fake", id: "m1" }'),
  });
});

test("over the wire a prompt that is a text is answered with its object", async () => {
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

test("an id in the place of an input is answered with the input, in memory and over the network", async () => {
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
    expect(slip.message).toBe("Unknown member sessionId. Did you mean sessionID?");
  }
});
