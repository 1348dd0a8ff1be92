import { format, inspect } from "node:util";
import {
  createClient,
  isAddressUnavailableError,
  isInvalidOptionError,
  isUnauthorizedError,
  resumeEvents,
} from "../../index.js";
import { rejection } from "../client/support";
import { basic, leavePrompts, setUpListener } from "./listen-support";
import { readHistory, readMessages, run, setUpSession, subscribe, types } from "./support";

const transport = { name: "ClientError", reason: "Transport" };

test("listens on any free port of this machine, several times if called several times", async () => {
  const { host, sessionID, listener } = await setUpListener();
  expect(listener.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const other = await host.listen({ hostname: "localhost" });
  expect(other.url).not.toBe(listener.url);
  for (const { clientUrl } of [listener, other]) {
    const client = createClient({ baseUrl: clientUrl });
    await expect(client.health.get()).resolves.toEqual({ healthy: true });
    await expect(client.sessions.get({ sessionID })).resolves.toEqual(await host.sessions.get({ sessionID }));
  }
});

test("runs a turn for a network client", async () => {
  const { setup, host, client, model } = await setUpListener();
  setup.write("a.txt", "A");
  const tools = [{ name: "read", input: { path: "a.txt" } }];
  model.reply({ tools }, { reasoning: "Hm.", deltas: ["It says", " A."] });
  const { id: sessionID } = await client.sessions.create();
  const [inMemory, overNetwork] = await Promise.all([subscribe(host), subscribe(client)]);
  const durable = client.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await run(client, sessionID, "What does a.txt say?");

  const history = await readHistory(host, sessionID);
  expect(history.at(-1)).toMatchObject({ type: "session.next.step.ended", data: { finish: "stop" } });
  await expect(readHistory(client, sessionID)).resolves.toEqual(history);
  await expect(readMessages(client, sessionID)).resolves.toEqual(await readMessages(host, sessionID));
  const events = [];
  for (const _ of history) events.push((await durable.next()).value);
  expect(events).toEqual(history);

  const last = history.at(-1)?.id;
  const readAll = async (live: typeof inMemory) => {
    const seen = [];
    while (seen.at(-1)?.id !== last) seen.push((await live.next()).value);
    return seen;
  };
  const [here, there] = await Promise.all([readAll(inMemory), readAll(overNetwork)]);
  expect(there).toEqual(here);
  expect(types(there)).toContain("text.delta");
  await Promise.all([durable.return?.(), inMemory.return?.(), overNetwork.return?.()]);
});

test("opens a durable stream of an idle session before the first event", async () => {
  const { url, headers, sessionID, host } = await setUpListener();
  const response = await fetch(`${url}/api/session/${sessionID}/event`, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  await host.sessions.prompt({ sessionID, prompt: { text: "Hi" }, resume: false });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  await expect(reader.read()).resolves.toMatchObject({ value: expect.stringContaining("prompt.admitted") });
  await reader.cancel();
});

test("a paused reader misses no event of a durable stream", async () => {
  const { host, client, sessionID } = await setUpListener();
  const paused = client.sessions.events({ sessionID })[Symbol.asyncIterator]();
  await leavePrompts(host, sessionID, 1, 10);
  await paused.next();
  await leavePrompts(host, sessionID, 12, 1_000_000);
  const seqs = [];
  while (seqs.at(-1) !== 13) seqs.push((await paused.next()).value.durable.seq);
  expect(seqs).toEqual(Array.from({ length: 12 }, (_, n) => n + 2));
  await paused.return?.();
});

test("disconnects a reader of the live stream that is too far behind", async () => {
  const { host, client, sessionID } = await setUpListener();
  const paused = await subscribe(client);
  await leavePrompts(host, sessionID, 30, 1_000_000);
  const everything = (async () => {
    for (;;) await paused.next().then(({ done }) => (done ? Promise.reject(new Error("it ended")) : undefined));
  })();
  await expect(rejection(everything)).resolves.toMatchObject(transport);
});

describe("an invalid option is named, and nothing listens", () => {
  test.each([
    ["prot", { prot: 5 }],
    ["port", { port: -1 }],
    ["port", { port: 65_536 }],
    ["port", { port: "80" }],
    ["hostname", { hostname: "" }],
    ["hostname", { hostname: null }],
    ["password", { password: "" }],
    ["password", { password: 5 }],
    ["password", { password: true }],
    ["password", { password: null }],
    ["password", { hostname: "0.0.0.0", password: false }],
    ["password", { hostname: "::", password: false }],
    ["username", { username: "me", password: false }],
    ["cors", { cors: "https://app.example" }],
    ["cors", { cors: [5] }],
    ["cors", { cors: ["https://app.example/"] }],
    ["cors", { cors: ["*"] }],
    ["maxBodyBytes", { maxBodyBytes: 0 }],
  ])("%s, case %#", async (option, options) => {
    const { host } = await setUpSession();
    const error = await rejection(host.listen(options as object));
    expect(Object.keys(error)).toEqual(["_tag", "option", "message"]);
    expect(error).toMatchObject({ _tag: "InvalidOptionError", option });
    expect(isInvalidOptionError(error)).toBe(true);
  });

  test("refuses options that are not an object", async () => {
    const { host } = await setUpSession();
    for (const options of [null, 4096, "localhost", []]) {
      await expect(rejection(host.listen(options as never))).resolves.toMatchObject({ option: "options" });
    }
  });

  test("suggests the intended name for a misspelled option", async () => {
    const { host } = await setUpSession();
    await expect(host.listen({ host: "localhost" } as never)).rejects.toThrow('"hostname"');
    // Does not suggest names of other options.
    await expect(rejection(host.listen({ cwd: "/" } as never))).resolves.toMatchObject({
      message: 'Unknown option "cwd"',
    });
  });
});

test("reports an address that is already in use", async () => {
  const { host, url } = await setUpListener();
  const error = await rejection(host.listen({ port: Number(new URL(url).port) }));
  const address = new URL(url).host;
  expect(Object.keys(error)).toEqual(["_tag", "address", "message"]);
  expect(error).toMatchObject({ _tag: "AddressUnavailableError", address, message: expect.stringContaining(address) });
  expect(isAddressUnavailableError(error)).toBe(true);
});

describe("the password", () => {
  const key = basic("opencode", "s3cret");
  const status = async (url: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(`${url}/api/health`, { headers })).status;

  test("is random unless the options say otherwise", async () => {
    const { host, listener, sessionID } = await setUpListener();
    const other = await host.listen();
    expect(listener.password).toMatch(/^[\w-]{32}$/);
    expect(other.password).not.toBe(listener.password);
    expect(listener.username).toBe("opencode");
    expect(listener.headers).toEqual(basic("opencode", listener.password!));
    const stranger = createClient({ baseUrl: listener.url });
    await expect(rejection(stranger.sessions.get({ sessionID }))).resolves.toMatchObject({
      _tag: "UnauthorizedError",
    });
    await expect(status(listener.url, listener.headers)).resolves.toBe(200);
    await expect(status(listener.url, other.headers)).resolves.toBe(401);
  });

  test("is part of the address for clients, and resumed streams use it", async () => {
    const login = { username: "me: @/?#", password: "p%41 /:@?#ß\ud83d\ude00" };
    const { host, listener, sessionID } = await setUpListener(login);
    expect(listener).toMatchObject({ ...login, headers: basic(login.username, login.password) });
    const { username, password, origin } = new URL(listener.clientUrl);
    expect([decodeURIComponent(username), decodeURIComponent(password), origin]).toEqual([
      login.username,
      login.password,
      listener.url,
    ]);
    const client = createClient({ baseUrl: listener.clientUrl });
    await run(client, sessionID, "Hi");
    const history = await readHistory(host, sessionID);
    const resumed = [];
    for await (const event of resumeEvents(client, { sessionID })) {
      if (resumed.push(event) === history.length) break;
    }
    expect(resumed).toEqual(history);
  });

  test("is not shown if a listener is printed or serialised", async () => {
    const { listener } = await setUpListener({ password: "s3cret" });
    const encoded = basic("opencode", "s3cret").authorization.slice("Basic ".length);
    const shown = [inspect(listener), format("%s %o %O %j", listener, { ...listener }, listener, listener)];
    for (const text of [...shown, JSON.stringify(listener)]) {
      expect(text).toContain(listener.url);
      expect(text).not.toContain("s3cret");
      expect(text).not.toContain(encoded);
    }
  });

  test("is turned off by `false`, only for this machine", async () => {
    const env = { OPENCODE_SERVER_PASSWORD: "secret-of-env", OPENCODE_SERVER_USERNAME: "me" };
    const { url, listener } = await setUpListener({ password: false }, { env });
    await expect(status(url, {})).resolves.toBe(200);
    const { username, password, headers, clientUrl } = listener;
    expect({ username, password, headers, clientUrl }).toEqual({ headers: {}, clientUrl: url });
  });

  test("is required for access", async () => {
    const { url, sessionID } = await setUpListener({ password: "s3cret" });
    const error = await rejection(createClient({ baseUrl: url }).sessions.get({ sessionID }));
    expect(isUnauthorizedError(error)).toBe(true);
    expect({ ...error }).toEqual({ _tag: "UnauthorizedError", message: "Authentication required" });
    const friend = createClient({ baseUrl: url, headers: key });
    await expect(friend.sessions.get({ sessionID })).resolves.toMatchObject({ id: sessionID });
    const token = encodeURIComponent(Buffer.from("opencode:s3cret").toString("base64"));
    expect((await fetch(`${url}/api/health?auth_token=${token}`)).status).toBe(200);
  });

  test.each([{}, { password: "s3cret" }])(
    "is required from other machines if the host listens for them: %j",
    async (options) => {
      const { url, client } = await setUpListener({ hostname: "0.0.0.0", ...options });
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
      await expect(client.health.get()).resolves.toEqual({ healthy: true });
      await expect(status(url, {})).resolves.toBe(401);
    },
  );

  test.each([
    ["of the environment", {}, basic("me", "secret-of-env")],
    ["of the options", { password: "s3cret" }, basic("me", "s3cret")],
    ["of the options, with a name", { password: "s3cret", username: "you" }, basic("you", "s3cret")],
  ])("%s", async (_, options, headers) => {
    const env = { OPENCODE_SERVER_PASSWORD: "secret-of-env", OPENCODE_SERVER_USERNAME: "me" };
    const { url, listener } = await setUpListener(options, { env });
    await expect(Promise.all([status(url, headers), status(url, key)])).resolves.toEqual([200, 401]);
    expect(listener.headers).toEqual(headers);
  });

  test("is never read from the environment of the process if the options have one", async () => {
    process.env.OPENCODE_SERVER_PASSWORD = "secret-of-process";
    try {
      const { listener } = await setUpListener(undefined, { env: {} });
      expect(listener.password).not.toBe("secret-of-process");
      await expect(status(listener.url, basic("opencode", "secret-of-process"))).resolves.toBe(401);
    } finally {
      delete process.env.OPENCODE_SERVER_PASSWORD;
    }
  });
});
