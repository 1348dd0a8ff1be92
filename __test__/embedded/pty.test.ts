import { isPtyNotFoundError } from "../../index.js";
import { rejection } from "../client/support";
import { readOutput, Screen, script, setUpTerminals } from "./pty-support";
import { readUntil, subscribe, types } from "./support";

test("creates, finds, changes and removes a terminal, and sends events of it to all subscribers", async () => {
  const { setup, host } = await setUpTerminals();
  const events = await subscribe(host);
  const { location, data } = await host.ptys.create({ ...script("read x"), title: "One" });
  expect(location).toEqual(await host.location.get());
  expect(data).toEqual({
    id: expect.stringMatching(/^pty_/),
    title: "One",
    command: "/bin/sh",
    args: ["-c", "read x", "-l"],
    cwd: setup.directory,
    status: "running",
    pid: expect.any(Number),
  });
  const ptyID = data.id;
  await expect(host.ptys.list()).resolves.toEqual({ location, data: [data] });
  const changed = { location, data: { ...data, title: "Two" } };
  await expect(host.ptys.update({ ptyID, title: "Two", size: { rows: 5, cols: 40 } })).resolves.toEqual(changed);
  await expect(host.ptys.get({ ptyID })).resolves.toEqual(changed);
  await expect(host.ptys.remove({ ptyID })).resolves.toBeUndefined();
  expect(() => process.kill(data.pid, 0)).toThrow("ESRCH");
  const observed = await readUntil(events, "pty.deleted");
  expect(observed.map(({ type, data: { info } }: any) => [type, info])).toEqual([
    ["pty.created", data],
    ["pty.updated", changed.data],
    ["pty.deleted", undefined],
  ]);
  const error = await rejection(host.ptys.get({ ptyID }));
  expect(isPtyNotFoundError(error)).toBe(true);
  expect(error).toMatchObject({ _tag: "PtyNotFoundError", ptyID, message: `PTY not found: ${ptyID}` });
});

test("finds a terminal only in its Location", async () => {
  const { setup, host } = await setUpTerminals();
  const { data } = await host.ptys.create(script("read x"));
  const elsewhere = { location: { directory: setup.root } };
  await expect(host.ptys.list(elsewhere)).resolves.toMatchObject({ data: [] });
  for (const refused of [
    host.ptys.get({ ptyID: data.id, ...elsewhere }),
    host.ptys.remove({ ptyID: data.id, ...elsewhere }),
    host.ptys.update({ ptyID: data.id, title: "Mine", ...elsewhere }),
  ]) {
    await expect(rejection(refused)).resolves.toMatchObject({ _tag: "PtyNotFoundError" });
  }
});

test("reports the cause if a terminal cannot be started", async () => {
  const { host } = await setUpTerminals();
  for (const [input, field] of [
    [{ command: "no-such-program" }, "command"],
    [{ command: "/bin/sh", cwd: "missing" }, "cwd"],
    [{ command: "/bin/sh", env: { "": "x" } }, "env"],
  ] as const) {
    await expect(rejection(host.ptys.create(input))).resolves.toMatchObject({ _tag: "InvalidRequestError", field });
  }
});

test("variables of the caller override those of the host, and those of a terminal override both", async () => {
  const PATH = process.env["PATH"];
  const env = { PATH, A: "host", B: "host", TERM: "host", OPENCODE_TERMINAL: "host" };
  const { host, url } = await setUpTerminals({ env });
  const caller = { B: "caller", C: "caller", TERM: "caller", OPENCODE_TERMINAL: "caller" };
  const observed = await readOutput(host, url, "echo $A $B $C $TERM $OPENCODE_TERMINAL ${HOME-none}", { env: caller });
  expect(observed).toBe("host caller caller xterm-256color 1 none\n");
});

test("uses the configured shell, else the one of the host's environment, else an installed one", async () => {
  const env = { SHELL: "/bin/sh", PATH: process.env["PATH"] };
  const { setup, host } = await setUpTerminals({ env });
  await expect(host.ptys.create()).resolves.toMatchObject({ data: { command: "/bin/sh", args: ["-l"] } });
  const other = await setup.open({ database: ":memory:", env, config: { shell: "/bin/cat" } });
  await expect(other.ptys.create()).resolves.toMatchObject({ data: { command: "/bin/cat", args: [] } });
  const bare = await setup.open({ database: ":memory:", env: { PATH: setup.root } });
  await expect(bare.ptys.create({ args: ["-c", "exit"] })).resolves.toMatchObject({
    data: { command: "/bin/sh", args: ["-c", "exit", "-l"] },
  });
});

test("keeps twenty-five terminals whose programs have ended", async () => {
  const { host } = await setUpTerminals();
  const events = await subscribe(host);
  const ids: string[] = [];
  for (let n = 0; n < 26; n += 1) {
    const { data } = await host.ptys.create(script("exit 3"));
    ids.push(data.id);
    const observed = await readUntil(events, "pty.exited");
    expect(observed.at(-1)).toMatchObject({ data: { id: data.id, exitCode: 3 } });
  }
  const observed = await readUntil(events, "pty.deleted");
  expect(observed).toMatchObject([{ data: { id: ids[0] } }]);
  const { data } = await host.ptys.list();
  expect(data.map(({ id, status, exitCode }) => [id, status, exitCode])).toEqual(
    ids.slice(1).map((id) => [id, "exited", 3]),
  );
});

test("closing the host ends its terminals", async () => {
  const { setup, host, url } = await setUpTerminals();
  const events = await subscribe(host);
  const { data } = await host.ptys.create(script("trap '' HUP TERM; echo deaf; while :; do sleep 1; done"));
  const screen = new Screen(`${url}/api/pty/${data.id}/connect`);
  await screen.until("deaf\r\n");
  await host.close();
  await expect(screen.rest()).resolves.toEqual({ text: "", end: { code: 1000, reason: "" } });
  expect(() => process.kill(data.pid, 0)).toThrow("ESRCH");
  expect(types(await readUntil(events, "global.disposed"))).toEqual(["pty.created", "pty.deleted", "global.disposed"]);
  const again = await setup.open();
  await expect(again.ptys.list()).resolves.toMatchObject({ data: [] });
});
