import { openHost } from "../../dist/host/host.js";
import { createFakeNative, finished, finishedBytes, openBody, openTestHost } from "./embedded-support";
import { collect, deferred, listenerCount, rejection, settle } from "./support";

const closed = { name: "ClientError", reason: "Transport", cause: { message: "The host is closed" } };

describe("opening", () => {
  const open = (options: unknown, addon: unknown) => openHost(options as never, () => addon as never);

  test("passes the resolved options as one JSON text", async () => {
    const { addon, opened } = createFakeNative(() => "");
    await open({ database: ":memory:", home: "/home", env: { TEXT: "half\ud83d" }, directory: "/" }, addon);
    expect(opened).toEqual([expect.objectContaining({ database: ":memory:", env: { TEXT: "half\ufffd" } })]);
  });

  test("checks the options before it loads the addon", async () => {
    const load = jest.fn();
    const error = await rejection(openHost({ databse: ":memory:" } as never, load));
    expect(error).toMatchObject({ _tag: "InvalidOptionError", option: "databse" });
    expect(load).not.toHaveBeenCalled();
  });

  test("rejects with the tagged failure of the host", async () => {
    const body = { _tag: "DatabaseInUseError", path: "/x.db", message: "In use" };
    const error = await rejection(open({}, { open: async () => JSON.stringify(body) }));
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify(error)).toBe(JSON.stringify(body));
  });

  test("rejects with a ClientError if the addon fails with an untagged error", async () => {
    const error = await rejection(open({}, { open: () => Promise.reject(new Error("panic")) }));
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport", cause: { message: "panic" } });
  });
});

describe("calls", () => {
  test("pass one head and one body to the addon", async () => {
    const { host, requests } = await openTestHost(() => finished('{"data":{"id":"msg_1"}}'));
    const input = { sessionID: "ses_1", prompt: { text: "Hi \ud83d" } };
    await expect(host.sessions.prompt(input, { headers: { "X-A": "1" } })).resolves.toEqual({ id: "msg_1" });
    await host.sessions.get({ sessionID: "ses_1" });
    expect(requests).toEqual([
      {
        method: "POST",
        url: "/api/session/ses_1/prompt",
        headers: [
          ["x-a", "1"],
          ["content-type", "application/json"],
          ["x-opencode-embedded", "1"],
        ],
        body: String.raw`{"prompt":{"text":"Hi \ufffd"}}`,
      },
      { method: "GET", url: "/api/session/ses_1", headers: [["x-opencode-embedded", "1"]], body: null },
    ]);
  });

  test("are admitted in the order in which they are made", async () => {
    const { host, requests } = await openTestHost(() => finished('{"data":{}}'));
    const ids = Array.from({ length: 100 }, (_, index) => `msg_${index}`);
    for (const id of ids) void host.sessions.prompt({ sessionID: "s", id, prompt: { text: "" } });
    expect(requests.map(({ body }) => JSON.parse(body as string).id)).toEqual(ids);
  });

  test("return values of the realm of the caller", async () => {
    const { host } = await openTestHost(() => finished('{"data":[{"id":1}],"cursor":{"next":"n"}}'));
    const page = await host.sessions.list();
    expect(page).toStrictEqual({ items: [{ id: 1 }], next: "n" });
    expect(page.items).toBeInstanceOf(Array);
    expect(host.sessions.list()).toBeInstanceOf(Promise);
  });

  test("reject with declared failures, or with a ClientError", async () => {
    const failure = '{"_tag":"ConflictError","message":"m"}';
    const declared = await openTestHost(() => finished(failure, 409));
    const prompt = { sessionID: "s", prompt: { text: "" } };
    expect(JSON.stringify(await rejection(declared.host.sessions.prompt(prompt)))).toBe(failure);
    const broken = await openTestHost(() => Promise.reject(new Error("panic")));
    await expect(broken.host.sessions.prompt(prompt)).rejects.toMatchObject({
      name: "ClientError",
      reason: "Transport",
      cause: { message: "panic" },
    });
    const unknown = await openTestHost(() => finished("", 404, []));
    await expect(unknown.host.health.get()).rejects.toMatchObject({
      reason: "UnexpectedStatus",
      cause: { status: 404 },
    });
  });

  test("accept an empty answer and an answer in pieces", async () => {
    const nothing = await openTestHost(() => finished("", 204, []));
    await expect(nothing.host.sessions.interrupt({ sessionID: "s" })).resolves.toBeUndefined();
    const source = openBody("application/json");
    source.send('{"healthy"');
    source.send(":true}");
    source.end();
    const pieces = await openTestHost(() => source.body);
    await expect(pieces.host.health.get()).resolves.toEqual({ healthy: true });
  });

  test("settle on abort", async () => {
    const { host, cancelled } = await openTestHost(() => new Promise(() => {}));
    const controller = new AbortController();
    const call = rejection(host.health.get({ signal: controller.signal }));
    await settle();
    controller.abort("enough");
    await expect(call).resolves.toMatchObject({ name: "ClientError", reason: "Transport", cause: "enough" });
    expect(cancelled).toEqual([1]);
    expect(listenerCount(controller.signal)).toBe(0);
  });
});

describe("bytes", () => {
  test.each([
    ["of a binary body", () => finishedBytes([0, 255, 254]), [0, 255, 254]],
    ["of a text body", () => finished("\ufeff\u00e9"), [0xef, 0xbb, 0xbf, 0xc3, 0xa9]],
    ["of an empty body", () => finished(""), []],
  ])("%s are returned unchanged, as a Uint8Array that is not a Buffer", async (_, answer, expected) => {
    const { host } = await openTestHost(answer);
    const bytes = await host.files.read({ path: "a" });
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    expect([...bytes]).toEqual(expected);
  });

  test("reject as malformed if the operation promises text", async () => {
    const json = [["content-type", "application/json"]];
    const { host } = await openTestHost(() => finishedBytes([255], 200, json));
    await expect(host.health.get()).rejects.toMatchObject({ reason: "MalformedResponse" });
    const events = await openTestHost(() => finishedBytes([255], 200, [["content-type", "text/event-stream"]]));
    await expect(collect(events.host.events.subscribe())).resolves.toEqual([]);
    const refused = await openTestHost(() => finishedBytes([255], 418, json));
    await expect(refused.host.health.get()).rejects.toMatchObject({ reason: "UnexpectedStatus" });
  });
});

describe("streams", () => {
  test("are read from the body of the addon", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    source.send('data: {"seq":1}\n\ndata: {"s');
    source.send('eq":2}\n\n: heartbeat\n\n');
    source.end();
    await expect(collect(host.events.subscribe())).resolves.toEqual([{ seq: 1 }, { seq: 2 }]);
  });

  test("reject when the body fails", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    source.fail(new Error("lost events"));
    await expect(collect(host.events.subscribe())).rejects.toMatchObject({
      name: "ClientError",
      reason: "Transport",
      cause: { message: "lost events" },
    });
  });

  test("are cancelled by return() while a read waits", async () => {
    const source = openBody();
    const { host } = await openTestHost(() => source.body);
    const iterator = host.events.subscribe()[Symbol.asyncIterator]();
    const read = iterator.next();
    await settle();
    await iterator.return();
    expect(source.state.cancelled).toBe(true);
    await expect(read).resolves.toEqual({ done: true, value: undefined });
  });

  test("are cancelled if they arrive after return()", async () => {
    const source = openBody();
    const answer = deferred();
    const { host } = await openTestHost(() => answer.promise);
    const controller = new AbortController();
    const read = rejection(collect(host.events.subscribe({ signal: controller.signal })));
    await settle();
    controller.abort("enough");
    await expect(read).resolves.toMatchObject({ cause: "enough" });
    answer.resolve(source.body);
    await settle();
    expect(source.state.cancelled).toBe(true);
  });
});

describe("closing", () => {
  test("closes the host once, and rejects every later call", async () => {
    const { host, requests, closes } = await openTestHost(() => finished("{}"));
    const first = host.close();
    expect(host.close()).toBe(first);
    await first;
    await host[Symbol.asyncDispose]();
    expect(closes()).toBe(1);
    await expect(host.health.get()).rejects.toMatchObject(closed);
    await expect(collect(host.events.subscribe())).rejects.toMatchObject(closed);
    await expect(host.fetch("http://host/api/health")).rejects.toMatchObject(closed);
    expect(requests).toEqual([]);
  });

  test("rejects new calls as soon as it begins", async () => {
    const { host, requests } = await openTestHost(() => finished("{}"));
    void host.close();
    await expect(host.health.get()).rejects.toMatchObject(closed);
    expect(requests).toEqual([]);
  });

  test("happens at the end of an `await using` scope", async () => {
    const { host, closes } = await openTestHost(() => finished("{}"));
    {
      await using opencode = host;
      await opencode.health.get();
    }
    expect(closes()).toBe(1);
  });
});
