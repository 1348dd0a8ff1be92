// An unreadable value restricts. The host asks each time for every action for which the value might contain a rule.

import { mkdirSync, rmSync } from "node:fs";
import type { OpenCodeEvent, OpenCodeHost, OpenCodeOptions, SessionError } from "../../index.js";
import {
  answering,
  bash,
  Canaries,
  effectOf,
  hostOptions,
  providers,
  readUntil,
  run,
  runCalls,
  setUpAttack,
  subscribe,
  type Attack,
  writeFile,
  writeUserConfig,
} from "./support";

const DENIED = { permission: { bash: "deny" } };

/** The authors of a file, and the option with which it applies. */
const AUTHORS: readonly [string, (attack: Attack, content: string | object) => string, OpenCodeOptions][] = [
  ["a trusted project", ({ setup }, content) => writeFile(setup, "opencode.json", content), { trust: true }],
  ["an untrusted project", ({ setup }, content) => writeFile(setup, "opencode.json", content), {}],
  ["the user", ({ setup }, content) => writeUserConfig(setup, content), {}],
];

async function diagnosticsOf(host: OpenCodeHost, file: string) {
  return (await host.location.diagnostics()).data.filter((it) => it.path === file);
}

/** The failures that a session reports until it is idle. */
async function readErrors(live: AsyncIterator<OpenCodeEvent>) {
  const events = await readUntil(live, "session.idle");
  return events.filter((event): event is SessionError => event.type === "session.error");
}

describe.each(AUTHORS)("a file of %s", (_, write, options) => {
  test("with an invalid value beside a deny loses only that value", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    // Each of these keys applies for each of the authors.
    const file = write(attack, {
      ...DENIED,
      instructions: 5,
      agent: { build: { steps: "many", prompt: "Be brief." } },
    });
    const host = await attack.setup.open(hostOptions(attack, options));
    const asked = answering(host, "once");
    await expect(runCalls(host, attack.model, bash(canaries.command("ran")))).resolves.toMatchObject({
      outcome: "completed",
      calls: ["bash error"],
    });
    expect(canaries.ran).toEqual([]);
    expect(asked).toEqual([]);
    // Settings that the invalid values cannot contain are unchanged.
    expect(await effectOf(host, "read", "a.txt")).toBe("allow");
    expect((await host.agents.list()).data.find(({ id }) => id === "build")?.system).toBe("Be brief.");
    const found = await diagnosticsOf(host, file);
    expect(found.map(({ kind }) => kind)).toEqual(["invalid", "invalid"]);
    const messages = found.map(({ message }) => message).join("\n");
    expect(messages).toContain("instructions");
    expect(messages).toContain("agent.build.steps");
  });

  test.each([
    ["a comma is missing", '{ "permission": { "bash": "deny" } "share": "manual" }', "syntax"],
    ["it ends too early", '{ "permission": { "bash": "deny"', "syntax"],
    ["it is not an object", '["permission"]', "invalid"],
    ["it is not text", "\u0000\u0001", "syntax"],
  ])("in which %s makes the host ask before every action", async (__, content, kind) => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    const file = write(attack, content);
    const host = await attack.setup.open(hostOptions(attack, options));
    const asked = answering(host, "always");
    const command = canaries.command("ran");
    await runCalls(host, attack.model, bash(command));
    await runCalls(host, attack.model, bash(command));
    expect(asked.map(({ action }) => action)).toEqual(["bash", "bash"]);
    expect(await effectOf(host, "read", "a.txt")).toBe("ask");
    expect(await diagnosticsOf(host, file)).toEqual([expect.objectContaining({ kind })]);
  });

  test("that cannot be read makes the host ask before every action", async () => {
    const attack = await setUpAttack();
    const file = write(attack, "{}");
    rmSync(file);
    mkdirSync(file);
    const host = await attack.setup.open(hostOptions(attack, options));
    expect(await effectOf(host, "bash", "ls")).toBe("ask");
    expect(await diagnosticsOf(host, file)).toEqual([expect.objectContaining({ kind: "io" })]);
  });

  test.each([
    ["permision", { permision: { bash: "deny" } }],
    ["permssions", { permssions: [{ action: "bash", resource: "*", effect: "deny" }] }],
    ["agnet", { agnet: { build: { permission: { bash: "deny" } } } }],
  ])("with the misspelled key %s makes the host ask before every action", async (key, content) => {
    const attack = await setUpAttack();
    const file = write(attack, content);
    const host = await attack.setup.open(hostOptions(attack, options));
    expect(await effectOf(host, "bash", "ls")).toBe("ask");
    expect(await effectOf(host, "read", "a.txt")).toBe("ask");
    const found = await diagnosticsOf(host, file);
    expect(found.map(({ message }) => message).join("\n")).toContain(key);
  });

  test("with an invalid rule asks before the actions of that rule", async () => {
    const attack = await setUpAttack();
    const file = write(attack, { permission: { bash: "denyy", webfetch: "deny" } });
    const host = await attack.setup.open(hostOptions(attack, options));
    expect(await effectOf(host, "bash", "ls")).toBe("ask");
    expect(await effectOf(host, "bash", "ls", "general")).toBe("ask");
    expect(await effectOf(host, "webfetch", "http://127.0.0.1/")).toBe("deny");
    expect(await effectOf(host, "read", "a.txt")).toBe("allow");
    const [found, ...others] = await diagnosticsOf(host, file);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ kind: "invalid", message: expect.stringContaining("permission.bash") });
  });

  test("with an invalid permission of an agent asks before the actions of that agent", async () => {
    const attack = await setUpAttack();
    const file = write(attack, { agent: { build: { permission: { bash: "denyy" } }, plan: { permission: 5 } } });
    const host = await attack.setup.open(hostOptions(attack, options));
    const effects = [
      await effectOf(host, "bash", "ls", "build"),
      await effectOf(host, "read", "a.txt", "build"),
      await effectOf(host, "bash", "ls", "plan"),
      await effectOf(host, "read", "a.txt", "plan"),
      await effectOf(host, "bash", "ls", "general"),
    ];
    expect(effects).toEqual(["ask", "allow", "ask", "ask", "allow"]);
    const messages = (await diagnosticsOf(host, file)).map(({ message }) => message).join("\n");
    expect(messages).toContain("agent.build.permission.bash");
    expect(messages).toContain("agent.plan.permission");
  });

  test("denies instead of asking if no user answers", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    write(attack, "{ nonsense");
    const permissions = { unanswered: "deny" as const };
    const host = await attack.setup.open(hostOptions(attack, { ...options, permissions }));
    await expect(runCalls(host, attack.model, bash(canaries.command("ran")))).resolves.toMatchObject({
      calls: ["bash error"],
    });
    expect(canaries.ran).toEqual([]);
  });

  test("that becomes invalid while a host is open restricts at once", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    const file = write(attack, { permission: { bash: "allow", webfetch: "deny" } });
    const host = await attack.setup.open(hostOptions(attack, options));
    const command = canaries.command("ran");
    await expect(runCalls(host, attack.model, bash(command))).resolves.toMatchObject({ calls: ["bash completed"] });
    write(attack, '{ "permission": { "bash": "deny", } "webfetch": "deny" }');
    await host.location.reload();
    await expect(runCalls(host, attack.model, bash(command))).resolves.toMatchObject({ calls: ["bash error"] });
    expect(await effectOf(host, "webfetch", "http://127.0.0.1/")).not.toBe("allow");
    expect(await diagnosticsOf(host, file)).toEqual([expect.objectContaining({ kind: "syntax" })]);
    await host.close();

    const later = await attack.setup.open(hostOptions(attack, options));
    const asked = answering(later, "once");
    await runCalls(later, attack.model, bash(command));
    expect(asked.map(({ action }) => action)).toEqual(["bash"]);
  });

  test("no longer restricts after it is corrected", async () => {
    const attack = await setUpAttack();
    write(attack, "{ nonsense");
    const host = await attack.setup.open(hostOptions(attack, options));
    expect(await effectOf(host, "bash", "ls")).toBe("ask");
    write(attack, {});
    await host.location.reload();
    expect(await effectOf(host, "bash", "ls")).toBe("allow");
    expect((await host.location.diagnostics()).data).toEqual([]);
  });

  test("asks in spite of a saved approval", async () => {
    const attack = await setUpAttack();
    const file = write(attack, { permission: { bash: "ask" } });
    const host = await attack.setup.open(hostOptions(attack, options));
    const asked = answering(host, "always");
    await runCalls(host, attack.model, bash("true"));
    await runCalls(host, attack.model, bash("true"));
    expect(asked).toHaveLength(1);
    expect(await host.permissions.listSaved()).toHaveLength(1);
    write(attack, "{ nonsense");
    await host.location.reload();
    await runCalls(host, attack.model, bash("true"));
    await runCalls(host, attack.model, bash("true"));
    expect(asked).toHaveLength(3);
    expect(await diagnosticsOf(host, file)).toHaveLength(1);
  });
});

describe("the file of a Markdown agent", () => {
  test.each([
    ["with unreadable front matter", "---\npermission: [\n---\nReview.", ["ask", "ask"]],
    ["with an invalid permission", "---\npermission:\n  bash: never\n---\nReview.", ["ask", "allow"]],
    ["with a misspelled permission", "---\npermision:\n  bash: deny\n---\nReview.", ["ask", "ask"]],
  ])("%s", async (_, content, expected) => {
    const attack = await setUpAttack();
    const file = writeFile(attack.setup, ".opencode/agent/build.md", content);
    const host = await attack.setup.open(hostOptions(attack, { trust: true }));
    const effects = [await effectOf(host, "bash", "ls"), await effectOf(host, "read", "a.txt")];
    expect(effects).toEqual(expected);
    expect(await effectOf(host, "bash", "ls", "general")).toBe("allow");
    expect((await diagnosticsOf(host, file)).length).toBeGreaterThan(0);
  });
});

test("the failure of a session names the file, and contains no secret of the value", async () => {
  const attack = await setUpAttack();
  const file = writeFile(attack.setup, "opencode.json", { permission: { bash: "sk-in-the-wrong-place" } });
  const host = await attack.setup.open(hostOptions(attack));
  const live = await subscribe(host);
  const { id: sessionID } = await host.sessions.create();
  await run(host, sessionID, "Hi");
  const [error] = await readErrors(live);
  expect(error?.data.error.data.message).toContain(file);
  const { data } = await host.location.diagnostics();
  expect(JSON.stringify([error, data])).not.toContain("sk-in-the-wrong-place");
});

test("each session sends one live event for the file, and no event after the file is corrected", async () => {
  const attack = await setUpAttack();
  const { setup } = attack;
  const file = writeFile(setup, "opencode.json", '{ "permission": { "bash": "deny" } "a": 1 }');
  const host = await setup.open(hostOptions(attack));
  const live = await subscribe(host);
  const { id: first } = await host.sessions.create();
  const { id: second } = await host.sessions.create();
  const errors = async (sessionID: string) => {
    await run(host, sessionID, "Hi");
    return readErrors(live);
  };
  const [reported, ...others] = await errors(first);
  expect(others).toEqual([]);
  expect(reported).toMatchObject({
    location: { directory: setup.directory },
    data: { sessionID: first, error: { cause: { kind: "permission" } } },
  });
  expect(reported?.data.error.data.message).toContain(file);
  expect(await errors(first)).toEqual([]);
  expect((await errors(second)).map(({ data }) => data.sessionID)).toEqual([second]);
  writeFile(setup, "opencode.json", DENIED);
  await host.location.reload();
  expect(await errors(first)).toEqual([]);
  expect(await errors(second)).toEqual([]);
  // A file that becomes invalid again after the correction is reported again.
  writeFile(setup, "opencode.json", "{ nonsense");
  await host.location.reload();
  expect(await errors(first)).toHaveLength(1);
});

test("the session continues while it asks, and the request names the file", async () => {
  const attack = await setUpAttack();
  const canaries = new Canaries(attack.setup);
  writeFile(attack.setup, "opencode.json", { permission: { bash: true } });
  const host = await attack.setup.open(hostOptions(attack, { config: { provider: providers(attack.model) } }));
  const asked = answering(host, "once");
  await expect(runCalls(host, attack.model, bash(canaries.command("ran")))).resolves.toMatchObject({
    outcome: "completed",
    calls: ["bash completed"],
  });
  expect(asked).toMatchObject([{ action: "bash", resources: [canaries.command("ran")] }]);
  expect(canaries.ran).toEqual(["ran"]);
});
