import { isClientError, isConflictError, isMessageNotFoundError, isSessionMessageNotFoundError } from "../../index.js";
import { isSessionNotFoundError, isTagged } from "../../index.js";
import { rejection } from "../client/support";
import { setUpSession } from "./support";

test("a failure is an Error of this realm with the fields of the wire format", async () => {
  const { host } = await setUpSession();
  const get = () => host.sessions.get({ sessionID: "ses_none" });
  await expect(get()).rejects.toThrow("Session not found: ses_none");
  await expect(get()).rejects.toThrow(Error);
  await expect(get()).rejects.toMatchObject({ _tag: "SessionNotFoundError", sessionID: "ses_none" });
  const error = await rejection(get());
  expect(error instanceof Error).toBe(true);
  expect(Object.getPrototypeOf(error)).toBe(Error.prototype);
  expect(Object.keys(error)).toEqual(["_tag", "sessionID", "message"]);
  expect(JSON.stringify(error)).toBe(
    '{"_tag":"SessionNotFoundError","sessionID":"ses_none","message":"Session not found: ses_none"}',
  );
  expect(error.stack).toContain("Session not found: ses_none");
});

test("a failure has the fields of the body that fetch returns", async () => {
  const { host, sessionID } = await setUpSession();
  const message = (messageID: string) => host.sessions.message({ sessionID, messageID });
  for (const [path, call] of [
    ["ses_none", () => host.sessions.get({ sessionID: "ses_none" })],
    ["nonsense", () => host.sessions.get({ sessionID: "nonsense" })],
    [`${sessionID}/message/msg_none`, () => message("msg_none")],
    [`${sessionID}/message/nonsense`, () => message("nonsense")],
  ] as const) {
    const body = await (await host.fetch(`http://host/api/session/${path}`)).text();
    const error = await rejection(call());
    expect(JSON.stringify(error)).toBe(body);
    expect(Object.keys(error)).toEqual(Object.keys(JSON.parse(body)));
  }
});

test("guards check only the tag", async () => {
  const { host, sessionID } = await setUpSession();
  const session = await rejection(host.sessions.get({ sessionID: "ses_none" }));
  const message = await rejection(host.sessions.message({ sessionID, messageID: "msg_none" }));
  expect([isSessionNotFoundError(session), isSessionNotFoundError(message)]).toEqual([true, false]);
  expect([isMessageNotFoundError(message), isSessionMessageNotFoundError(message)]).toEqual([true, true]);
  expect([isConflictError(session), isTagged(session, "SessionNotFoundError")]).toEqual([false, true]);
  expect(isSessionNotFoundError({ _tag: "SessionNotFoundError" })).toBe(true);
  expect(isSessionNotFoundError(null)).toBe(false);
});

test("an answer outside the contract is a ClientError", async () => {
  const { host } = await setUpSession();
  await host.close();
  const error = await rejection(host.health.get());
  expect(isClientError(error)).toBe(true);
  expect(error).toBeInstanceOf(Error);
  expect(Object.keys(error)).toEqual(["reason"]);
  expect(error).toMatchObject({ name: "ClientError", reason: "Transport" });
});

test("results belong to this realm", async () => {
  const { host, sessionID } = await setUpSession();
  const page = await host.sessions.list();
  expect(page.items).toBeInstanceOf(Array);
  expect(page).toBeInstanceOf(Object);
  expect(host.sessions.list()).toBeInstanceOf(Promise);
  for await (const event of host.events.subscribe()) {
    expect(event).toBeInstanceOf(Object);
    break;
  }
  await expect(host.sessions.wait({ sessionID })).resolves.toBeUndefined();
});
