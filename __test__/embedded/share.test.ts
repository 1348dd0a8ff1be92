// Sharing of sessions through a service of the program.

import { deferred, rejection } from "../client/support";
import { run, setUp } from "./support";
import type { OpenCodeOptions, PublishedSession, SharedSession, ShareOptions } from "../../index.js";

/** A service that keeps copies in memory. */
function createService(more: Partial<ShareOptions> = {}) {
  const copies = new Map<string, string[]>();
  const calls: string[] = [];
  let waiting: (() => void)[] = [];
  const note = (call: string) => {
    calls.push(call);
    waiting.forEach((resolve) => resolve());
    waiting = [];
  };
  const share: ShareOptions = {
    publish: async ({ session, lines }: PublishedSession) => {
      const url = `https://share.example/${session.id}`;
      const copy: string[] = [];
      for await (const line of lines) copy.push(line);
      copies.set(url, copy);
      note(`publish ${session.share?.url ?? "-"}`);
      return { url };
    },
    remove: ({ session }: SharedSession) => {
      copies.delete(session.share?.url ?? "");
      note(`remove ${session.share?.url ?? "-"}`);
    },
    ...more,
  };
  const called = async (count: number) => {
    while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { copies, calls, called, share };
}

async function open(options: OpenCodeOptions, config: Record<string, unknown> = {}) {
  const setup = await setUp();
  const host = await setup.open({ ...options, config: setup.model.config(config) });
  return { setup, host, model: setup.model };
}

test("a session is shared, published again after each activity, and unshared", async () => {
  const { share, copies, calls, called } = createService();
  const { host, setup } = await open({ share });
  const { id: sessionID } = await host.sessions.create();
  const live = host.events.subscribe({ types: ["session.updated"] })[Symbol.asyncIterator]();
  await live.next();
  const url = `https://share.example/${sessionID}`;
  const shared = await host.sessions.share({ sessionID });
  expect(shared.share).toEqual({ url });
  const { value: event } = await live.next();
  expect(event).toMatchObject({ type: "session.updated", data: { info: { share: { url } } } });
  await run(host, sessionID, "Hi");
  await called(2);
  expect(copies.get(url)?.join("\n")).toContain("Hi");
  await host.close();
  const again = await setup.open({ share });
  expect((await again.sessions.get({ sessionID })).share).toEqual({ url });
  const unshared = await again.sessions.unshare({ sessionID });
  expect(unshared).not.toHaveProperty("share");
  expect(copies.size).toBe(0);
  await again.sessions.unshare({ sessionID });
  expect(calls).toEqual(["publish -", `publish ${url}`, `remove ${url}`]);
});

test("a new session is shared automatically if the host or the configuration of the user says so", async () => {
  for (const [options, config, isShared] of [
    [{ mode: "auto" }, {}, true],
    [{}, { share: "auto" }, true],
    [{}, {}, false],
    [{ mode: "auto" }, { share: "disabled" }, false],
  ] as const) {
    const { share, calls, called } = createService(options);
    const { host } = await open({ share }, config);
    const { id: sessionID } = await host.sessions.create();
    if (isShared) await called(1);
    else await run(host, sessionID, "Hi");
    await host.close();
    expect(calls.length > 0).toBe(isShared);
  }
});

test("a project that is not trusted cannot turn sharing on, but can turn it off", async () => {
  for (const [share, mode, isShared] of [
    ["auto", "manual", false],
    ["disabled", "auto", false],
  ] as const) {
    const service = createService({ mode });
    const { host, setup } = await open({ share: service.share });
    setup.write("opencode.json", JSON.stringify({ share }));
    await host.location.reload();
    const { id: sessionID } = await host.sessions.create();
    await run(host, sessionID, "Hi");
    const outcome = await host.sessions.share({ sessionID }).then(
      () => "shared",
      (error) => error._tag,
    );
    expect(outcome).toBe(share === "disabled" ? "ServiceUnavailableError" : "shared");
    expect(service.calls.length > 1).toBe(isShared);
  }
});

test("a host without a service shares nothing and says which option is missing", async () => {
  const { host } = await open({});
  const { id: sessionID } = await host.sessions.create();
  const error = await rejection(host.sessions.share({ sessionID }));
  expect(error).toMatchObject({ _tag: "ServiceUnavailableError", service: "session.share" });
  expect(error.message).toContain("share: { publish, remove }");
  await expect(host.sessions.unshare({ sessionID })).resolves.toMatchObject({ id: sessionID });
  expect(await rejection(host.sessions.share({ sessionID: "ses_none" }))).toMatchObject({
    _tag: "SessionNotFoundError",
  });
});

test.each<[string, unknown, string]>([
  ["throws", () => Promise.reject(new Error("no space")), "no space"],
  ["gives nothing", () => undefined, "it must give { url }"],
  ["gives a number", () => ({ url: 5 }), "it must give { url }"],
  ["gives a script", () => ({ url: "javascript:alert(1)" }), "begins with https:// or http://"],
  ["gives a long address", () => ({ url: `https://${"a".repeat(5000)}` }), "2048 bytes"],
  ["gives text with a line end", () => ({ url: "https://a\nb" }), "begins with https:// or http://"],
])("a service that %s shares nothing and harms no turn", async (_, publish, message) => {
  const { share } = createService({ publish: publish as ShareOptions["publish"] });
  const { host } = await open({ share, log: "off" });
  const { id: sessionID } = await host.sessions.create();
  const error = await rejection(host.sessions.share({ sessionID }));
  expect(error).toMatchObject({ _tag: "ServiceUnavailableError", message: expect.stringContaining(message) });
  await run(host, sessionID, "Hi");
  expect(await host.sessions.get({ sessionID })).not.toHaveProperty("share");
});

test("a session stays shared if the service cannot remove its copy", async () => {
  let fails = true;
  const service = createService({
    remove: () => {
      if (fails) throw new Error("not now");
    },
  });
  const { host } = await open({ share: service.share, log: "off" });
  const { id: sessionID } = await host.sessions.create();
  await host.sessions.share({ sessionID });
  const error = await rejection(host.sessions.unshare({ sessionID }));
  expect(error.message).toContain("not now");
  expect(await host.sessions.get({ sessionID })).toHaveProperty("share");
  fails = false;
  expect(await host.sessions.unshare({ sessionID })).not.toHaveProperty("share");
});

test("a copy that is published while its session is unshared is removed", async () => {
  const gate = deferred<void>();
  const entered = deferred<void>();
  const removed: string[] = [];
  let publishes = 0;
  const { share } = createService({
    publish: async ({ session }) => {
      publishes += 1;
      if (publishes === 2) {
        entered.resolve();
        await gate.promise;
      }
      return { url: `https://share.example/${session.id}` };
    },
    remove: ({ session }) => void removed.push(session.share?.url ?? "-"),
  });
  const { host } = await open({ share, log: "off" });
  const { id: sessionID } = await host.sessions.create();
  await host.sessions.share({ sessionID });
  const second = rejection(host.sessions.share({ sessionID }));
  await entered.promise;
  await host.sessions.unshare({ sessionID });
  gate.resolve();
  expect(await second).toMatchObject({ _tag: "ServiceUnavailableError" });
  expect(await host.sessions.get({ sessionID })).not.toHaveProperty("share");
  expect(removed).toHaveLength(2);
});

test("the copy of a removed session is removed", async () => {
  const gone = deferred<string>();
  const { share } = createService({ remove: ({ session }) => gone.resolve(session.id) });
  const { host } = await open({ share, log: "off" });
  const { id: parentID } = await host.sessions.create();
  const { id: sessionID } = await host.sessions.create({ parentID });
  await host.sessions.share({ sessionID });
  await host.sessions.remove({ sessionID: parentID });
  await expect(gone.promise).resolves.toBe(sessionID);
});

test("no entry of the log contains the address of a shared copy", async () => {
  const { share } = createService({ publish: () => ({ url: "https://share.example/secret" }) });
  const { host } = await open({ share, log: "off" });
  const { id: sessionID } = await host.sessions.create();
  await host.sessions.share({ sessionID });
  await host.sessions.update({ sessionID, title: "Renamed" });
  expect(await host.sessions.get({ sessionID })).toMatchObject({ title: "Renamed", share: expect.any(Object) });
  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  expect(lines.join("\n")).toContain("Renamed");
  expect(lines.join("\n")).not.toContain("share.example");
});
