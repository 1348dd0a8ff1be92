import { createClient } from "../../index.js";
import { basic } from "./listen-support";
import { Screen, script, setUpTerminals } from "./pty-support";

/** A listener, and a program in a terminal. */
async function setUpProgram(text: string, password?: string | false) {
  const setup = await setUpTerminals(undefined, password);
  const { data } = await setup.host.ptys.create(script(text));
  const path = `${setup.url}/api/pty/${data.id}/connect`;
  const connect = (query = "", headers = {}) => new Screen(path + query, headers);
  return { ...setup, ptyID: data.id, path, connect };
}

test("sends a new client the earlier output, its cursor, and then new output", async () => {
  const { connect } = await setUpProgram("stty -echo; printf 'aä😀b'; read x; echo you typed $x; read y");
  const first = connect();
  await first.until("b");
  for (const [query, replay] of [
    ["", ["aä😀b"]],
    ["?cursor=2", ["😀b"]],
    ["?cursor=4", ["b"]],
    ["?cursor=5", []],
    ["?cursor=99", []],
    ["?cursor=-1", []],
    ["?cursor=all", ["aä😀b"]],
  ] as const) {
    const screen = connect(query);
    const frames = [await screen.next()];
    while (typeof frames.at(-1) === "string") frames.push(await screen.next());
    expect([query, frames]).toEqual([query, [...replay, { cursor: 5 }]]);
    screen.leave();
  }
  const last = connect("?cursor=-1");
  await expect(last.next()).resolves.toEqual({ cursor: 5 });
  first.type("grüße\n");
  for (const screen of [first, last]) await expect(screen.until("\n")).resolves.toBe("you typed grüße\r\n");
  last.type("\n");
  for (const screen of [first, last]) {
    await expect(screen.rest()).resolves.toEqual({ text: "", end: { code: 1000, reason: "" } });
  }
});

test("a shell works as in any terminal", async () => {
  const { host, url } = await setUpTerminals();
  const args = ["--norc", "--noprofile", "--noediting", "-i"];
  const { data } = await host.ptys.create({ command: "/bin/bash", args, env: { PS1: "> " } });
  const screen = new Screen(`${url}/api/pty/${data.id}/connect`);
  await screen.until("> ");
  screen.type("stty -echo\n");
  await screen.until("\n> ");
  await host.ptys.update({ ptyID: data.id, size: { rows: 33, cols: 111 } });
  screen.type("stty size\n");
  expect(await screen.until("> ")).toContain("33 111\r\n");
  // Interrupts the running program. The shell continues.
  screen.type("cat\n");
  screen.type("here\n");
  await screen.until("here\r\n");
  screen.type("\x03");
  await screen.until("> ");
  screen.type("echo $?; exit 5\n");
  const { text, end } = await screen.rest();
  expect(text).toContain("130\r\n");
  expect(end).toEqual({ code: 1000, reason: "" });
});

test("sends large output completely to a client that reads it in time", async () => {
  const { connect } = await setUpProgram("stty -opost -echo; echo ready; read x; seq 1 300000");
  const screen = connect();
  await screen.until("ready\n");
  screen.type("\n");
  const { text, end } = await screen.rest();
  expect(end).toEqual({ code: 1000, reason: "" });
  expect(text.trim().split("\n").map(Number)).toEqual(Array.from({ length: 300_000 }, (_, index) => index + 1));
});

test("refuses a connection with a status and no body", async () => {
  const { host, path, url, connect, ptyID } = await setUpProgram("read x");
  for (const [screen, end] of [
    [connect("", { origin: "https://evil.example" }), { status: 403 }],
    [connect("?ticket=none"), { status: 403 }],
    [connect("?location[directory]=/"), { status: 404 }],
    [new Screen(`${url}/api/pty/pty_none/connect`), { status: 404 }],
    [new Screen(`${url}/api/pty/none/connect`), { status: 400 }],
  ] as const) {
    await expect(screen.next()).resolves.toEqual(end);
  }
  for (const plain of [await fetch(path), await host.fetch(path)]) {
    expect([plain.status, await plain.text()]).toEqual([400, ""]);
  }
  const screen = connect();
  await screen.next();
  screen.type("\n");
  await screen.rest();
  await expect(host.ptys.get({ ptyID })).resolves.toMatchObject({ data: { status: "exited", exitCode: 0 } });
  await expect(connect().rest()).resolves.toEqual({ text: "", end: { code: 4404, reason: "session exited" } });
});

test("a ticket opens one connection to one terminal if a password is set", async () => {
  const { host, url, connect, ptyID } = await setUpProgram("read x", "s3cret");
  await expect(connect().next()).resolves.toEqual({ status: 401 });
  const client = createClient({ baseUrl: url, headers: basic("opencode", "s3cret") });
  const { data } = await client.ptys.connectToken({ ptyID });
  expect(data).toEqual({ ticket: expect.stringMatching(/^[0-9a-f-]{36}$/), expires_in: 60 });
  const query = `?ticket=${data.ticket}`;
  await expect(connect(query).next()).resolves.toEqual({ cursor: 0 });
  await expect(connect(query).next()).resolves.toEqual({ status: 403 });
  // The program that embeds the host can issue tickets too.
  const own = await host.ptys.connectToken({ ptyID });
  await expect(connect(`?ticket=${own.data.ticket}`).next()).resolves.toEqual({ cursor: 0 });
  await expect(connect("", basic("opencode", "s3cret")).next()).resolves.toEqual({ cursor: 0 });
});

test("a listener that closes also closes its connections, and the terminal continues", async () => {
  const { host, listener, connect, ptyID } = await setUpProgram("read x");
  const screen = connect();
  await expect(screen.next()).resolves.toEqual({ cursor: 0 });
  await listener.close();
  await expect(screen.rest()).resolves.toEqual({ text: "", end: { code: 1001, reason: "the listener is closed" } });
  await expect(host.ptys.get({ ptyID })).resolves.toMatchObject({ data: { status: "running" } });
});

test("removing a terminal closes its connections", async () => {
  const { host, connect, ptyID } = await setUpProgram("read x");
  const screen = connect();
  await expect(screen.next()).resolves.toEqual({ cursor: 0 });
  await host.ptys.remove({ ptyID });
  await expect(screen.rest()).resolves.toEqual({ text: "", end: { code: 1000, reason: "" } });
});
