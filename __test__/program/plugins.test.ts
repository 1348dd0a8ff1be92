// Plugins: functions that bundle registrations for one host.

import { OpenCode } from "../../index.js";
import type { Plugin } from "../../index.js";
import { recorder } from "../embedded/log-support";
import { callTools, setUp, setUpSession } from "./support";

const clock: Plugin = (host) =>
  host.tools.register({
    name: "clock",
    description: "Returns the time.",
    input: { type: "object" },
    execute: () => "noon",
  });

test("a plugin registers tools before create resolves", async () => {
  const started = await setUpSession({ plugins: [clock] });
  expect(await callTools(started, { name: "clock", input: {}, id: "call_1" })).toEqual(["noon"]);
});

test("closing the host disposes of the plugins, the last one first", async () => {
  const order: string[] = [];
  const plugin =
    (name: string): Plugin =>
    async (host) => {
      await host.sessions.list();
      order.push(`start ${name}`);
      return async () => {
        // The host still answers.
        await host.sessions.list();
        order.push(`end ${name}`);
      };
    };
  const { host } = await setUpSession({ plugins: [plugin("a"), plugin("b"), () => {}] });
  const closing = host.close();
  expect(host.close()).toBe(closing);
  await closing;
  expect(order).toEqual(["start a", "start b", "end b", "end a"]);
});

test("a plugin can return a Registration, a Disposable or an AsyncDisposable", async () => {
  const ended: string[] = [];
  const disposable = { [Symbol.dispose]: () => void ended.push("sync") };
  const asyncDisposable = { [Symbol.asyncDispose]: async () => void ended.push("async") };
  const { host } = await setUpSession({ plugins: [clock, () => disposable, async () => asyncDisposable] });
  await host.close();
  expect(ended).toEqual(["async", "sync"]);
});

test("a plugin that fails closes the host and ends the plugins before it", async () => {
  const setup = await setUp();
  const ended: string[] = [];
  const plugins: Plugin[] = [
    () => () => void ended.push("first"),
    () => Promise.reject(new Error("no license")),
    () => void ended.push("never"),
  ];
  await expect(OpenCode.create(setup.options({ plugins }))).rejects.toThrow("no license");
  expect(ended).toEqual(["first"]);
  // The file is free.
  await (await setup.open()).close();
});

test("a plugin that returns anything else fails", async () => {
  const setup = await setUp();
  await expect(OpenCode.create(setup.options({ plugins: [(() => 1) as unknown as Plugin] }))).rejects.toThrow(
    "A plugin must return a function, a Registration, a Disposable or nothing, got 1",
  );
});

test("the failure of a disposal is logged, and the host closes", async () => {
  const { log, entries } = recorder();
  const failing: Plugin = () => () => {
    throw new Error("still busy");
  };
  const { host } = await setUpSession({ plugins: [failing], log });
  await host.close();
  expect(entries.map(({ message }) => message)).toEqual(["The disposal of a plugin failed: Error: still busy"]);
});

test.each([
  ["plugins", "clock"],
  ["plugins[1]", [clock, {}]],
])("the invalid option %s is refused", async (option, plugins) => {
  const create = OpenCode.create({ plugins: plugins as unknown as Plugin[] });
  await expect(create).rejects.toMatchObject({ _tag: "InvalidOptionError", option });
});
