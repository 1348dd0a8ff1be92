// Rules hold whatever their spelling, whatever a tool names, and whenever they were set.

import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { OpenCodeHost, PermissionRule } from "../../index.js";
import { createClient } from "../../index.js";
import {
  answering,
  bash,
  call,
  hostOptions,
  providers,
  readCalls,
  runCalls,
  setUpAttack,
  writeUserConfig,
} from "./support";

/** Calls of the tools that change a file. */
const CHANGES = [
  call("write", { path: "made.txt", content: "x" }),
  call("apply_patch", { patchText: "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch" }),
];

describe("a rule that names a tool", () => {
  test.each([
    ["write", "deny"],
    ["apply_patch", "deny"],
    ["edit", "deny"],
    ["multiedit", "deny"],
    ["Write", "deny"],
    ["wri*", "deny"],
    ["wirte", "deny"],
    ["edits", "ask"],
  ] as const)("restricts all tools with the action of that tool: %s %s", async (name, effect) => {
    for (const place of ["config", "user", "agent", "ceiling", "session"]) {
      const attack = await setUpAttack();
      const permission = { [name]: effect };
      const provider = providers(attack.model);
      if (place === "user") writeUserConfig(attack.setup, { permission });
      const host = await attack.setup.open(
        hostOptions(attack, {
          config: {
            provider,
            ...(place === "config" ? { permission } : {}),
            ...(place === "agent" ? { agent: { build: { permission } } } : {}),
          },
          permissions: { unanswered: "deny", ...(place === "ceiling" ? { ceiling: permission } : {}) },
        }),
      );
      const rules: PermissionRule[] = [{ action: name, resource: "*", effect }];
      const session = await host.sessions.create(place === "session" ? { permission: rules } : {});
      for (const change of CHANGES) {
        attack.model.reply({ tools: [change] }, { text: "Done." });
        await host.sessions.run({ sessionID: session.id, prompt: "Go" }).result;
      }
      const calls = await readCalls(host, session.id);
      expect({ place, calls }).toEqual({ place, calls: ["write error", "apply_patch error"] });
      expect(existsSync(path.join(attack.setup.directory, "made.txt"))).toBe(false);
    }
  });

  test("is a diagnostic with the nearest name if no tool has the name", async () => {
    const attack = await setUpAttack();
    const config = { provider: providers(attack.model), permission: { bsah: "deny", forecst: "ask", forecast: "ask" } };
    const host = await attack.setup.open(hostOptions(attack, { config: config as never }));
    const unknown = async () => {
      const { data } = await host.location.diagnostics();
      return data.map(({ message }) => message).filter((message) => message.includes("names no action"));
    };
    expect(await unknown()).toEqual([
      expect.stringContaining("bsah names no action of any tool. Did you mean bash?"),
      expect.stringContaining("forecast names no action of any tool"),
      expect.stringContaining("forecst names no action of any tool"),
    ]);
    host.tools.register({
      name: "forecast",
      description: "Forecast",
      input: { type: "object" },
      execute: () => "Sun",
    });
    expect(await unknown()).toEqual([
      expect.stringContaining("Did you mean bash?"),
      expect.stringContaining("forecst names no action of any tool. Did you mean forecast?"),
    ]);
  });
});

describe("a tool of the program with an action of its own", () => {
  test.each([
    [{ query: "deny" }, 0],
    [{ database: "deny" }, 0],
    [{ query: "ask" }, 0],
    [{ query: "deny", database: "allow" }, 0],
    [{ qurey: "deny" }, 0],
    [{ Datbase: "ask" }, 0],
    [{ qurey: "allow", quarry_x: "deny" }, 1],
    [{ query: "allow", database: "allow" }, 1],
  ] as const)("is restricted by rules about its name and about its action: %j", async (permission, count) => {
    const attack = await setUpAttack();
    const config = { provider: providers(attack.model), permission: { ...permission } };
    const host = await attack.setup.open(hostOptions(attack, { config, permissions: { unanswered: "deny" } }));
    const execute = jest.fn(() => "done");
    const input = { type: "object" } as const;
    host.tools.register({ name: "query", description: "Query", input, permission: { action: "database" }, execute });
    await runCalls(host, attack.model, call("query", {}));
    expect(execute).toHaveBeenCalledTimes(count);
  });
});

describe("a tool of the program that names no resource", () => {
  test.each([[[]], [[""]], [["a", ""]]])("needs the permission for every resource: %j", async (resources) => {
    for (const rule of ["deny", { "*": "allow", secret: "deny" }, "ceiling"] as const) {
      const attack = await setUpAttack();
      const execute = jest.fn(() => "done");
      const permission = rule === "ceiling" ? {} : { use: rule };
      const host = await attack.setup.open(
        hostOptions(attack, {
          config: { provider: providers(attack.model), permission },
          ...(rule === "ceiling" ? { permissions: { ceiling: { use: "deny" } } } : {}),
        }),
      );
      host.tools.register({
        name: "use",
        description: "Use",
        input: { type: "object" },
        permission: { resources: () => resources },
        execute,
      });
      await runCalls(host, attack.model, call("use", {}));
      expect(execute).not.toHaveBeenCalled();
      const session = await host.sessions.create();
      const asked = { sessionID: session.id, action: "use", resources: [...resources] };
      expect(await host.permissions.create(asked)).toMatchObject({ effect: "deny" });
    }
  });
});

describe("a rule that is set while a request waits", () => {
  async function waitingFor(host: OpenCodeHost, sessionID: string) {
    for (;;) {
      const [request] = await host.permissions.list({ sessionID });
      if (request !== undefined) return request;
      await new Promise(setImmediate);
    }
  }

  test("decides about the reply in another session", async () => {
    const attack = await setUpAttack();
    const config = { provider: providers(attack.model), permission: { bash: "ask" } } as const;
    const host = await attack.setup.open(hostOptions(attack, { config }));
    const mine = await host.sessions.create();
    const other = await host.sessions.create();
    const requests = [];
    for (const { id: sessionID } of [other, mine]) {
      attack.model.reply({ tools: [bash("touch made")] });
      await host.sessions.prompt({ sessionID, prompt: { text: "Go" } });
      requests.push(await waitingFor(host, sessionID));
    }
    attack.model.reply({ text: "Done." }, { text: "Done." });
    const deny: PermissionRule[] = [{ action: "bash", resource: "*", effect: "deny" }];
    for (const session of [other, mine]) await host.sessions.update({ sessionID: session.id, permission: deny });
    await host.permissions.reply({ sessionID: mine.id, requestID: String(requests[1]?.id), reply: "always" });
    for (const session of [other, mine]) {
      await host.sessions.wait({ sessionID: session.id });
      expect(await readCalls(host, session.id)).toEqual(["bash error"]);
    }
    expect(existsSync(path.join(attack.setup.directory, "made"))).toBe(false);
  });
});

describe("an approval outside of a Git repository", () => {
  test("counts in its directory, and other clients see only those of their Location", async () => {
    const attack = await setUpAttack();
    const folders = ["one", "two"].map((name) => path.join(attack.setup.root, name));
    for (const folder of folders) mkdirSync(folder);
    const config = { provider: providers(attack.model), permission: { bash: "ask" } } as const;
    const options = (directory: string) => hostOptions(attack, { config, directory, trust: true });
    const first = await attack.setup.open(options(folders[0] as string));
    answering(first, "always");
    await runCalls(first, attack.model, bash("touch approved"));
    await first.close();

    const host = await attack.setup.open(options(folders[1] as string));
    const asked = answering(host, "reject");
    await runCalls(host, attack.model, bash("touch approved"));
    expect(asked).toHaveLength(1);
    const saved = await host.permissions.listSaved();
    expect(saved).toMatchObject([{ action: "bash", directory: folders[0], trusted: true }]);
    const id = String(saved[0]?.id);

    const listener = await host.listen();
    const client = createClient({ baseUrl: listener.clientUrl });
    expect(await client.permissions.listSaved()).toEqual([]);
    await client.permissions.removeSaved({ id });
    expect(await host.permissions.listSaved()).toHaveLength(1);
    await host.permissions.removeSaved({ id });
    expect(await host.permissions.listSaved()).toEqual([]);
  });
});

describe("a rule of the user", () => {
  test.each([
    ["permission", { bash: "deny" }],
    ["tools", { bash: false }],
    ["permissions", [{ action: "bash", resource: "*", effect: "deny" }]],
  ])("holds for an agent in `agents`, as %s", async (field, value) => {
    const attack = await setUpAttack();
    writeUserConfig(attack.setup, { agents: { build: { [field]: value } } });
    const host = await attack.setup.open(hostOptions(attack, { config: { provider: providers(attack.model) } }));
    expect((await runCalls(host, attack.model, bash("touch made.txt"))).calls).toEqual(["bash error"]);
  });

  test.each(["", " ", "\n\n", "\t\r\n"])("holds in front matter behind %j", async (blank) => {
    const attack = await setUpAttack();
    writeUserConfig(attack.setup, `${blank}---\npermission:\n  bash: deny\n---\nBuild.`, "agent/build.md");
    const host = await attack.setup.open(hostOptions(attack, { config: { provider: providers(attack.model) } }));
    expect((await runCalls(host, attack.model, bash("touch made.txt"))).calls).toEqual(["bash error"]);
  });
});

test.each([undefined, null, [], [""], ["*"]])(
  "a tool that names %j as its resources may use every one",
  async (named) => {
    const attack = await setUpAttack();
    const options = {
      config: { provider: providers(attack.model) },
      permissions: { ceiling: { use: { secret: "deny" } } },
    };
    const host = await attack.setup.open(hostOptions(attack, options as never));
    const execute = jest.fn(() => "Done.");
    const permission = { resources: () => named as string[] };
    host.tools.register({ name: "use", description: "Use", input: { type: "object" }, permission, execute });
    expect((await runCalls(host, attack.model, call("use", {}))).calls).toEqual(["use error"]);
    expect(execute).not.toHaveBeenCalled();
    if (!Array.isArray(named)) return;
    const { id: sessionID } = await host.sessions.create();
    await expect(host.permissions.create({ sessionID, action: "use", resources: named })).resolves.toMatchObject({
      effect: "deny",
    });
  },
);

test("a plan is written without a question, and other files of the directory are not", async () => {
  const attack = await setUpAttack();
  const host = await attack.setup.open(hostOptions(attack, { config: { provider: providers(attack.model) } }));
  const write = (name: string) => call("write", { path: name, content: "Plan" });
  const files = [".opencode/plans/p.md", "sub/.opencode/plans/p.md", ".opencode/plans/p.json", ".opencode/agent/p.md"];
  const states = [];
  for (const name of files) states.push(...(await runCalls(host, attack.model, write(name))).calls);
  expect(states).toEqual(["write completed", "write completed", "write error", "write error"]);
});

test("a rule about an address holds for redirects and for other spellings of it", async () => {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url!);
    const isRedirect = request.url === "/ok";
    response.writeHead(isRedirect ? 302 : 200, isRedirect ? { location: "/evil" } : { "content-type": "text/plain" });
    response.end("secret");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const attack = await setUpAttack();
  for (const effect of ["deny", "ask"] as const) {
    const ceiling = [{ action: "webfetch", resource: `${url}/evil*`, effect }];
    const options = { config: { provider: providers(attack.model) }, permissions: { ceiling } };
    const host = await attack.setup.open(hostOptions(attack, options));
    for (const place of ["/evil", "/ok", "/%65vil", "/e%76i%6C?x", "/fine"]) {
      const { calls } = await runCalls(host, attack.model, call("webfetch", { url: url + place, format: "text" }));
      expect({ place, calls }).toEqual({ place, calls: [place === "/fine" ? "webfetch completed" : "webfetch error"] });
    }
    await host.close();
  }
  expect(asked).toEqual(["/ok", "/fine", "/ok", "/fine"]);
  server.close();
});
