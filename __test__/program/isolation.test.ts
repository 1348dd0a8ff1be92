// Registrations belong to one host of one copy of the package.

import type { OpenCodeHost } from "../../index.js";
import type { Model, Setup } from "../embedded/support";
import { callTools, setUp } from "./support";

/** Registers one function of each kind, which leaves a mark. */
function registerAll(host: OpenCodeHost, mark: string) {
  const hooked: string[] = [];
  host.tools.register({
    name: "who",
    description: "Names its host.",
    input: { type: "object" },
    execute: () => `tool ${mark}`,
  });
  host.contextSources.register({ key: "test/who", load: () => mark, baseline: (name) => `source ${name}` });
  host.hooks.onRequest(() => void hooked.push("onRequest"));
  host.hooks.onToolCall(() => void hooked.push("onToolCall"));
  return hooked;
}

/** Calls the tool, and returns its result and the Baseline System Context of the turn. */
async function observe(setup: Setup, host: OpenCodeHost, model: Model = setup.model) {
  const session = await host.sessions.create();
  const before = model.requests.length;
  const [result] = await callTools({ setup, host, model, session, sessionID: session.id }, { name: "who", input: {} });
  const { body } = await model.received(before + 1);
  return { result, baseline: String(body.messages[0].content) };
}

async function expectSeparate(setup: Setup, one: OpenCodeHost, other: OpenCodeHost) {
  const hooked = registerAll(one, "one");
  const without = await observe(setup, other);
  expect(without.result).toContain("Unknown tool: who");
  expect(without.baseline).not.toContain("source");
  expect(hooked).toEqual([]);
  const otherHooked = registerAll(other, "other");
  for (const [host, mark] of [[one, "one"] as const, [other, "other"] as const]) {
    const { result, baseline } = await observe(setup, host);
    expect(result).toBe(`tool ${mark}`);
    expect(baseline).toContain(`source ${mark}`);
  }
  const moments = ["onRequest", "onToolCall", "onRequest"];
  expect([hooked, otherHooked]).toEqual([moments, moments]);
}

test("two hosts share no registration", async () => {
  const setup = await setUp();
  const hosts = [await setup.open(), await setup.open({ database: ":memory:" })] as const;
  await expectSeparate(setup, ...hosts);
});

test("two copies of the package share no registration", async () => {
  const setup = await setUp();
  let copy: typeof import("../../index.js") | undefined;
  jest.isolateModules(() => {
    copy = require("../../index.js");
  });
  const host = await copy?.OpenCode.create(setup.options({ database: ":memory:" }));
  if (host === undefined) throw new Error("The copy has no host");
  try {
    await expectSeparate(setup, await setup.open(), host);
  } finally {
    await host.close();
  }
});
