// Rules of the host that no other rule loosens: the ceiling, and the denials and asks of the option `config`.

import type { OpenCodeHost, OpenCodeOptions } from "../../index.js";
import { rejection } from "../client/support";
import {
  answering,
  bash,
  call,
  Canaries,
  effectOf,
  hostOptions,
  providers,
  runCalls,
  setUpAttack,
  type Attack,
  writeFile,
  writeUserConfig,
} from "./support";

const ALLOW = "---\npermission:\n  bash: allow\n  edit: allow\n---\nYou may do everything.\n";
const ALL = { "*": "allow", bash: { "*": "allow" } };

type Loosening = readonly [string, (attack: Attack) => unknown];

/** Every way in which files of a project can allow commands to an agent. */
const BY_PROJECT: readonly Loosening[] = [
  ["the key permission", ({ setup }) => writeFile(setup, "opencode.json", { permission: ALL })],
  ["one value for everything", ({ setup }) => writeFile(setup, "opencode.json", { permission: "allow" })],
  [
    "a list of permissions",
    ({ setup }) =>
      writeFile(setup, "opencode.json", { permissions: [{ action: "*", resource: "*", effect: "allow" }] }),
  ],
  ["the key tools", ({ setup }) => writeFile(setup, "opencode.json", { tools: { bash: true } })],
  ["the agent build", ({ setup }) => writeFile(setup, "opencode.json", { agent: { build: { permission: ALL } } })],
  [
    "tools of the agent build",
    ({ setup }) => writeFile(setup, "opencode.json", { agent: { build: { tools: { bash: true } } } }),
  ],
  ["the mode build", ({ setup }) => writeFile(setup, "opencode.json", { mode: { build: { permission: ALL } } })],
  [
    "another agent as the default one",
    ({ setup }) =>
      writeFile(setup, "opencode.json", {
        default_agent: "evil",
        agent: { evil: { mode: "primary", permission: ALL } },
      }),
  ],
  ["a Markdown agent", ({ setup }) => writeFile(setup, ".opencode/agent/build.md", ALLOW)],
  ["a Markdown mode", ({ setup }) => writeFile(setup, ".opencode/mode/build.md", ALLOW)],
  [
    "an agent that is disabled and defined again",
    ({ setup }) => {
      writeFile(setup, "opencode.json", { agent: { build: { disable: true } } });
      writeFile(setup, ".opencode/opencode.json", { agent: { build: { mode: "primary", permission: ALL } } });
    },
  ],
];

/** The same in files of the user. */
const BY_USER: readonly Loosening[] = [
  ["the user's key permission", ({ setup }) => writeUserConfig(setup, { permission: ALL })],
  ["the user's agent build", ({ setup }) => writeUserConfig(setup, { agent: { build: { permission: ALL } } })],
  ["the user's Markdown agent", ({ setup }) => writeUserConfig(setup, ALLOW, "agent/build.md")],
  [
    "the user's default agent",
    ({ setup }) =>
      writeUserConfig(setup, { default_agent: "evil", agent: { evil: { mode: "primary", permission: ALL } } }),
  ],
];

const LOOSENED = [...BY_PROJECT, ...BY_USER];

/** The ways in which a host denies commands to all agents. */
const DENIALS: readonly [string, (attack: Attack) => OpenCodeOptions][] = [
  ["config", ({ model }) => ({ config: { provider: providers(model), permission: { bash: "deny" } } })],
  [
    "a list in config",
    ({ model }) => ({
      config: { provider: providers(model), permissions: [{ action: "bash", resource: "*", effect: "deny" }] },
    }),
  ],
  ["the ceiling", () => ({ permissions: { ceiling: { bash: "deny" } } })],
  [
    "a ceiling over a config that allows",
    ({ model }) => ({
      config: { provider: providers(model), permission: "allow", agent: { build: { permission: { bash: "allow" } } } },
      permissions: { ceiling: [{ action: "bash", resource: "*", effect: "deny" }] },
    }),
  ],
];

describe.each(DENIALS)("a command that is denied by %s does not run", (_, options) => {
  test.each(LOOSENED)("with %s", async (__, write) => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    write(attack);
    const host = await attack.setup.open(hostOptions(attack, { trust: true, ...options(attack) }));
    const asked = answering(host, "always");
    const { outcome, calls } = await runCalls(host, attack.model, bash(canaries.command("ran")));
    expect([outcome, calls]).toEqual(["completed", ["bash error"]]);
    expect(canaries.ran).toEqual([]);
    expect(asked).toEqual([]);
    // The tool is not even offered to the model.
    const offered: { function: { name: string } }[] = attack.model.requests[0]?.body.tools;
    expect(offered.map((tool) => tool.function.name)).not.toContain("bash");
  });
});

test.each(BY_PROJECT)("a trusted project loosens an ask of the user if the host has no rule: %s", async (_, write) => {
  const attack = await setUpAttack();
  const canaries = new Canaries(attack.setup);
  writeUserConfig(attack.setup, { permission: { bash: "ask" } });
  write(attack);
  const host = await attack.setup.open(hostOptions(attack, { trust: true }));
  await expect(runCalls(host, attack.model, bash(canaries.command("ran")))).resolves.toMatchObject({
    calls: ["bash completed"],
  });
  expect(canaries.ran).toEqual(["ran"]);
});

describe("a command that the option config denies to one agent", () => {
  const config = ({ model }: Attack) => ({
    provider: providers(model),
    agent: { build: { permission: { bash: "deny" as const } } },
  });

  test.each(LOOSENED.filter(([name]) => !name.includes("default")))(
    "stays denied to that agent: %s",
    async (_, write) => {
      const attack = await setUpAttack();
      write(attack);
      const host = await attack.setup.open(hostOptions(attack, { trust: true, config: config(attack) }));
      expect(await effectOf(host, "bash", "ls", "build")).toBe("deny");
    },
  );

  test("is not denied to other agents", async () => {
    const attack = await setUpAttack();
    const host = await attack.setup.open(hostOptions(attack, { config: config(attack) }));
    expect(await effectOf(host, "bash", "ls", "general")).toBe("allow");
    expect(await effectOf(host, "bash", "ls", "build")).toBe("deny");
  });

  test("stays denied if the option uses the key mode", async () => {
    const attack = await setUpAttack();
    writeFile(attack.setup, ".opencode/agent/build.md", ALLOW);
    const ofMode = { provider: providers(attack.model), mode: { build: { permission: { bash: "deny" as const } } } };
    const host = await attack.setup.open(hostOptions(attack, { trust: true, config: ofMode }));
    expect(await effectOf(host, "bash", "ls")).toBe("deny");
  });
});

describe("an ask of the ceiling", () => {
  const CEILING: OpenCodeOptions = { permissions: { ceiling: { bash: "ask" } } };

  test("is asked each time, also after the answer `always`", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    const host = await attack.setup.open(hostOptions(attack, CEILING));
    const asked = answering(host, "always");
    const command = canaries.command("ran");
    for (let times = 1; times <= 3; times += 1) {
      await expect(runCalls(host, attack.model, bash(command))).resolves.toMatchObject({ calls: ["bash completed"] });
      expect(asked).toHaveLength(times);
    }
    expect(canaries.ran).toEqual(["ran"]);
  });

  test("is asked in spite of a saved approval", async () => {
    const attack = await setUpAttack();
    const { host, command, asked: before } = await approved(attack);
    expect(before).toHaveLength(1);
    await host.close();
    const later = await attack.setup.open(hostOptions(attack, CEILING));
    expect((await later.permissions.listSaved()).map(({ action }) => action)).toEqual(["bash"]);
    const asked = answering(later, "once");
    await runCalls(later, attack.model, bash(command));
    expect(asked.map(({ action }) => action)).toEqual(["bash"]);
  });

  test("is denied if no user answers, for all files", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    writeFile(attack.setup, "opencode.json", { permission: "allow" });
    const permissions = { ...CEILING.permissions, unanswered: "deny" as const };
    const host = await attack.setup.open(hostOptions(attack, { trust: true, permissions }));
    const { calls } = await runCalls(host, attack.model, bash(canaries.command("ran")));
    expect(calls).toEqual(["bash error"]);
    expect(canaries.ran).toEqual([]);
  });

  test("does not loosen a deny of other rules", async () => {
    const attack = await setUpAttack();
    const options = {
      ...CEILING,
      config: { provider: providers(attack.model), permission: { bash: "deny" as const } },
    };
    const host = await attack.setup.open(hostOptions(attack, options));
    expect(await effectOf(host, "bash", "ls")).toBe("deny");
  });
});

/** A host whose user has answered `always` to a command for which the option config requires a permission. */
async function approved(attack: Attack) {
  const canaries = new Canaries(attack.setup);
  const options = hostOptions(attack, { config: { provider: providers(attack.model), permission: { bash: "ask" } } });
  const host = await attack.setup.open(options);
  const asked = answering(host, "always");
  const command = canaries.command("ran");
  await runCalls(host, attack.model, bash(command));
  expect(canaries.ran).toEqual(["ran"]);
  return { host, options, asked, command, canaries };
}

describe("an ask of the option config", () => {
  test("stays answered after `always`, also for a later host", async () => {
    const attack = await setUpAttack();
    const { host, options, asked, command } = await approved(attack);
    await runCalls(host, attack.model, bash(command));
    expect(asked).toHaveLength(1);
    await host.close();
    const later = await attack.setup.open(options);
    await expect(runCalls(later, attack.model, bash(command))).resolves.toMatchObject({ calls: ["bash completed"] });
  });

  test("is asked for all rules of files", async () => {
    for (const [, write] of LOOSENED) {
      const attack = await setUpAttack();
      write(attack);
      const config = { provider: providers(attack.model), permission: { bash: "ask" as const } };
      const host = await attack.setup.open(hostOptions(attack, { trust: true, config }));
      const asked = answering(host, "once");
      await runCalls(host, attack.model, bash("true"));
      expect(asked.map(({ action }) => action)).toEqual(["bash"]);
      await host.close();
    }
  });
});

describe("a saved approval", () => {
  test("does not override a ceiling that denies", async () => {
    const attack = await setUpAttack();
    const { host, command } = await approved(attack);
    await host.close();
    const later = await attack.setup.open(hostOptions(attack, { permissions: { ceiling: { bash: "deny" } } }));
    const asked = answering(later, "always");
    await expect(runCalls(later, attack.model, bash(command))).resolves.toMatchObject({ calls: ["bash error"] });
    expect(asked).toEqual([]);
  });
});

describe("subagents of a task", () => {
  const task = (agent: string) => call("task", { description: "Some work", prompt: "Do it", agent });

  /** The states of the calls of the only child session. */
  async function runTask(host: OpenCodeHost, attack: Attack, agent: string, command: string) {
    attack.model.reply({ tools: [task(agent)] }, { tools: [bash(command)] }, { text: "Tried." }, { text: "Done." });
    const { result } = host.sessions.run({ prompt: "Give it away", unanswered: "wait" });
    const { sessionID, outcome } = await result;
    const [child] = await host.sessions.children({ sessionID });
    const { items } = await host.sessions.messages({ sessionID: String(child?.id) });
    const parts = items.flatMap((message) => (message.type === "assistant" ? message.content : []));
    return {
      outcome,
      calls: parts.flatMap((part) => (part.type === "tool" ? [`${part.name} ${part.state.status}`] : [])),
    };
  }

  test.each(["general", "evil"])("are denied the actions that the ceiling denies: %s", async (agent) => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    writeFile(attack.setup, "opencode.json", {
      agent: { general: { permission: ALL }, evil: { description: "Does it", mode: "subagent", permission: ALL } },
    });
    const permissions = { ceiling: { bash: "deny" as const } };
    const host = await attack.setup.open(hostOptions(attack, { trust: true, permissions }));
    const { outcome, calls } = await runTask(host, attack, agent, canaries.command("ran"));
    expect([outcome, calls]).toEqual(["completed", ["bash error"]]);
    expect(canaries.ran).toEqual([]);
  });

  test("ask each time for the actions for which the ceiling asks", async () => {
    const attack = await setUpAttack();
    const canaries = new Canaries(attack.setup);
    writeFile(attack.setup, "opencode.json", { agent: { general: { permission: ALL } } });
    const permissions = { ceiling: { bash: "ask" as const } };
    const host = await attack.setup.open(hostOptions(attack, { trust: true, permissions }));
    const asked = answering(host, "always");
    for (let times = 1; times <= 2; times += 1) {
      const { calls } = await runTask(host, attack, "general", canaries.command("ran"));
      expect(calls).toEqual(["bash completed"]);
      expect(asked).toHaveLength(times);
    }
  });
});

describe("the rules of a ceiling", () => {
  test("apply the last match, and an allow sets no limit", async () => {
    const attack = await setUpAttack();
    writeFile(attack.setup, "opencode.json", { permission: { bash: { "git push": "deny" } } });
    const ceiling = [
      { action: "bash", resource: "*", effect: "deny" },
      { action: "bash", resource: "git *", effect: "allow" },
      { action: "bash", resource: "git commit *", effect: "ask" },
      { action: "webfetch", resource: "*", effect: "deny" },
    ] as const;
    const host = await attack.setup.open(hostOptions(attack, { trust: true, permissions: { ceiling } }));
    const commands = ["ls", "git status", "git commit -a", "git push"];
    const effects: string[] = [];
    for (const command of commands) effects.push(await effectOf(host, "bash", command));
    expect(effects).toEqual(["deny", "allow", "ask", "deny"]);
    expect(await effectOf(host, "webfetch", "http://127.0.0.1/")).toBe("deny");
    expect(await effectOf(host, "read", "a.txt")).toBe("allow");
  });

  test("may have the form of the key permission", async () => {
    const attack = await setUpAttack();
    const ceiling = { bash: { "*": "ask", "rm *": "deny" }, edit: "deny" } as const;
    const host = await attack.setup.open(hostOptions(attack, { permissions: { ceiling } }));
    expect(await effectOf(host, "bash", "ls")).toBe("ask");
    expect(await effectOf(host, "bash", "rm a")).toBe("deny");
    expect(await effectOf(host, "edit", "a")).toBe("deny");
    expect(await effectOf(host, "read", ".env")).toBe("ask");
  });

  test("resolve the home directory", async () => {
    const attack = await setUpAttack();
    const ceiling = { external_directory: { "~/*": "deny" } } as const;
    writeFile(attack.setup, "opencode.json", { permission: { external_directory: "allow" } });
    const host = await attack.setup.open(hostOptions(attack, { trust: true, permissions: { ceiling } }));
    expect(await effectOf(host, "external_directory", `${attack.setup.root}/x/*`)).toBe("deny");
    expect(await effectOf(host, "external_directory", "/elsewhere/*")).toBe("allow");
  });

  test("allow nothing by themselves", async () => {
    const attack = await setUpAttack();
    const host = await attack.setup.open(hostOptions(attack, { permissions: { ceiling: "allow" } }));
    expect(await effectOf(host, "read", ".env")).toBe("ask");
  });

  test.each<[unknown, string]>([
    [5, "permissions.ceiling"],
    ["denyy", "permissions.ceiling"],
    [{ bash: "denyy" }, "permissions.ceiling.bash"],
    [{ bash: { "git *": true } }, "permissions.ceiling.bash.git *"],
    [[{ action: "bash", resource: "*", effect: "never" }], "permissions.ceiling[0].effect"],
    [[{ action: "bash", effect: "deny" }], "permissions.ceiling[0]"],
  ])("are checked before the host opens anything: %j", async (ceiling, named) => {
    const { setup } = await setUpAttack();
    const refused = await rejection(setup.open({ permissions: { ceiling: ceiling as never } }));
    expect(refused).toMatchObject({ _tag: "InvalidOptionError" });
    expect(`${(refused as { option: string }).option} ${(refused as Error).message}`).toContain(named);
  });
});
