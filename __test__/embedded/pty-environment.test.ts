// Functions of the program that provide variables to terminals.

import {
  createClient,
  isClientError,
  isServiceUnavailableError,
  type OpenCodeClient,
  type PtyEnvironmentHook,
} from "../../index.js";
import { rejection } from "../client/support";
import { readOutput, script, setUpTerminals } from "./pty-support";
import { setUp, subscribe } from "./support";

const PATH = process.env["PATH"];

test.each(["in memory", "over the network"])(
  "they override those of the caller and yield to those of a terminal, %s",
  async (way) => {
    const { host, url } = await setUpTerminals({ env: { PATH, A: "host", B: "host", C: "host" } });
    host.ptys.environment(() => ({ C: "program", D: "program", TERM: "program", OPENCODE_TERMINAL: "0" }));
    const client = way === "in memory" ? host : createClient({ baseUrl: url });
    const env = { B: "caller", C: "caller", TERM: "caller" };
    const output = await readOutput(client, url, "echo $A $B $C $D $TERM $OPENCODE_TERMINAL", { env });
    expect(output).toBe("host caller program program xterm-256color 1\n");
  },
);

test("a function receives the description of its terminal", async () => {
  const { setup, host } = await setUpTerminals();
  const asked: object[] = [];
  host.ptys.environment((context) => {
    asked.push(context);
    return {};
  });
  setup.write("file", "");
  await host.ptys.create(script("true"));
  await host.ptys.create({ ...script("true"), cwd: setup.root });
  await host.ptys.create({ ...script("true"), location: { directory: setup.root }, cwd: "project" });
  expect(asked).toStrictEqual([
    { directory: setup.directory, cwd: setup.directory },
    { directory: setup.directory, cwd: setup.root },
    { directory: setup.root, cwd: setup.directory },
  ]);
});

test("the newest of several functions overrides the others, and a disposed one is not called", async () => {
  const { host, url } = await setUpTerminals({ ptyEnvironment: () => ({ A: "option", B: "option", C: "option" }) });
  const output = () => readOutput(host, url, "echo $A $B $C");
  expect(await output()).toBe("option option option\n");
  const second = host.ptys.environment(async () => ({ B: "second", C: "second" }));
  const third = () => ({ C: "third" });
  const registered = [host.ptys.environment(third), host.ptys.environment(third)];
  expect(await output()).toBe("option second third\n");
  registered[0]!.dispose();
  registered[0]!.dispose();
  expect(await output()).toBe("option second third\n");
  registered[1]![Symbol.dispose]();
  expect(await output()).toBe("option second second\n");
  second.dispose();
  expect(await output()).toBe("option option option\n");
});

test("no function is called after it is disposed, and another one can be registered", async () => {
  const { host, url } = await setUpTerminals();
  const output = () => readOutput(host, url, "echo ${A-none}");
  for (const name of ["first", "second"]) {
    const registration = host.ptys.environment(() => ({ A: name }));
    expect(await output()).toBe(`${name}\n`);
    registration.dispose();
    expect(await output()).toBe("none\n");
  }
});

test("uses the result of a pending function although it is disposed", async () => {
  const { host, url } = await setUpTerminals();
  const registration = host.ptys.environment(async () => {
    registration.dispose();
    return { A: "last" };
  });
  expect(await readOutput(host, url, "echo $A")).toBe("last\n");
});

test("passes values unchanged", async () => {
  const { host, url } = await setUpTerminals();
  const A = "'\"\\ $B 漢字 👩‍👩‍👧\t=";
  host.ptys.environment(() => ({ A, B: "cut \ud83d", ["__proto__"]: "kept" }));
  expect(await readOutput(host, url, 'printf "%s|" "$A" "$B" "$__proto__"')).toBe(`${A}|cut \ufffd|kept|`);
});

const thrower = (thrown: unknown) => () => {
  throw thrown;
};
const giving = (given: unknown) => (() => given) as PtyEnvironmentHook;
/** Six times as long in JSON, which exceeds the longest possible string. */
const HUGE = "\0".repeat(95_000_000);

test.each<[string, PtyEnvironmentHook, string]>([
  ["throws", thrower(new Error("no token")), "Error: no token"],
  ["throws nothing", thrower(undefined), "undefined"],
  ["throws a value without a text", thrower({ toString: thrower("x") }), "an object without words"],
  ["throws a longer text than JSON can hold", thrower(HUGE), HUGE.slice(0, 1_000)],
  ["rejects", () => Promise.reject(new RangeError("none left")), "RangeError: none left"],
  ["returns nothing", giving(undefined), "TypeError: it must give an object of strings, got undefined"],
  ["returns null", giving(null), "TypeError: it must give an object of strings, got null"],
  ["returns an array", giving([["A", "x"]]), "TypeError: it must give an object of strings, got an array"],
  [
    "returns a map",
    giving(new Map([["A", "x"]])),
    "TypeError: it must give an object of strings, got an object of the class Map",
  ],
  ["returns a number", giving({ A: 1 }), 'TypeError: it must give strings, but "A" is 1'],
  ["returns an undefined value", giving({ A: undefined }), 'TypeError: it must give strings, but "A" is undefined'],
  [
    "returns an invalid name",
    giving({ "A=B": "x" }),
    "\"A=B\" cannot be a variable: a name is not empty and holds no '=', and neither name nor value holds a NUL",
  ],
  ["returns more than JSON can hold", giving({ A: HUGE }), "RangeError: its variables have more than 1048576 bytes"],
  ["returns an object that cannot be inspected", giving(new Proxy({}, { ownKeys: thrower("closed") })), "closed"],
  ["returns too much", giving({ A: "x".repeat(131_071) }), 'the variable "A" has more than 131072 bytes'],
])("starts no terminal when a function %s", async (_, hook, reason) => {
  const { host, url } = await setUpTerminals({ ptyEnvironment: () => ({ A: "fine" }) });
  const live = await subscribe(host);
  const registration = host.ptys.environment(hook);
  const failure = {
    _tag: "ServiceUnavailableError",
    service: "pty.environment",
    message: `The terminal has not begun, because the program's function for its variables failed: ${reason}`,
  };
  for (const client of [host, createClient({ baseUrl: url })] as OpenCodeClient[]) {
    const error = await rejection(client.ptys.create(script("true")));
    expect({ ...(error as object) }).toEqual(failure);
    expect(isServiceUnavailableError(error)).toBe(true);
  }
  await expect(host.ptys.list()).resolves.toMatchObject({ data: [] });
  // The first terminal in the list is the one that was created.
  registration.dispose();
  const { data } = await host.ptys.create(script("read x"));
  let event = await live.next();
  while (event.value?.type === "server.heartbeat") event = await live.next();
  expect(event.value).toMatchObject({ type: "pty.created", data: { info: data } });
});

test("closing the host does not wait for a function, nor does an aborted call", async () => {
  const { setup, host } = await setUpTerminals();
  const answers: (() => void)[] = [];
  let notifyAsked = () => {};
  host.ptys.environment(() => {
    notifyAsked();
    return new Promise((resolve) => answers.push(() => resolve({})));
  });
  const nextAsked = () => new Promise<void>((resolve) => (notifyAsked = resolve));

  const controller = new AbortController();
  const first = nextAsked();
  const aborted = rejection(host.ptys.create(script("true"), { signal: controller.signal }));
  await first;
  controller.abort("enough");
  expect(await aborted).toMatchObject({ name: "ClientError", cause: "enough" });

  const second = nextAsked();
  const closed = rejection(host.ptys.create(script("true")));
  await second;
  await host.close();
  const error = await closed;
  expect(isClientError(error) || isServiceUnavailableError(error)).toBe(true);
  for (const answer of answers) answer();
  const again = await setup.open();
  await again.close();
  const late = () => again.ptys.environment(() => ({}));
  expect(late).toThrow(expect.objectContaining({ name: "ClientError", reason: "Transport" }));
});

test("refuses a value that is not a function", async () => {
  const setup = await setUp();
  const options: object = { ptyEnvironment: { A: "x" } };
  await expect(rejection(setup.open(options))).resolves.toMatchObject({
    _tag: "InvalidOptionError",
    option: "ptyEnvironment",
    message: 'Option "ptyEnvironment" must be a function, got an object',
  });
  const host = await setup.open();
  expect(() => host.ptys.environment({} as PtyEnvironmentHook)).toThrow(
    new TypeError("ptys.environment takes a function, got an object"),
  );
});
