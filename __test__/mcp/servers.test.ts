// MCP servers of a host: real servers, and servers that die, hang, flood and lie.

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { callTools, readCalls } from "../program/support";
import { readMessages, readUntil, run, setUp, setUpSession, subscribe } from "../embedded/support";
import { everything, filesystem, kill, readServer, scripted, startEverything } from "./support";

const allowed = { permissions: { unanswered: "deny" } } as const;

describe("lifetime", () => {
  test("a host starts no server before its first use", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { scripted: scripted() } });
    expect(await readServer(host, "scripted")).toEqual({
      name: "scripted",
      type: "local",
      status: { status: "stopped" },
      tools: [],
      problems: [],
    });
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    expect(await readServer(host, "scripted")).toMatchObject({ status: { status: "connected" } });
    const [request] = model.requests;
    const names = request?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(names).toContain("scripted_echo");
  });

  test("a server that cannot start fails no session", async () => {
    const { host, model, sessionID } = await setUpSession({
      mcp: { missing: { type: "local", command: ["no-such-program"] }, ended: scripted("exit") },
    });
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    const messages = await readMessages(host, sessionID);
    expect(messages.at(-1)).toMatchObject({ type: "assistant", finish: "stop" });
    expect(await readServer(host, "missing")).toMatchObject({
      status: { status: "failed", error: expect.stringContaining("no-such-program") },
    });
    expect(await readServer(host, "ended")).toMatchObject({ status: { status: "failed" } });
  });

  test("a server that never answers delays the first turn only, and fails after its time", async () => {
    const started = await setUpSession({ mcp: { silent: { ...scripted("silent"), timeout: { startup: 500 } } } });
    const { host, model, sessionID } = started;
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    expect(await readServer(host, "silent")).toMatchObject({ status: { status: "failed" } });
  });

  test("processes of servers end with the host", async () => {
    const started = await setUpSession({ mcp: { scripted: scripted() } });
    const [pid] = await callTools(started, { name: "scripted_pid", input: {} });
    expect(() => process.kill(Number(pid), 0)).not.toThrow();
    await started.host.close();
    expect(() => process.kill(Number(pid), 0)).toThrow();
  });

  test("a disabled server is not started", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { off: { ...scripted(), enabled: false } } });
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    expect(await readServer(host, "off")).toMatchObject({ status: { status: "disabled" } });
  });
});

describe("run time", () => {
  test("a server that a client adds is ready, and its removal restores the configuration", async () => {
    const { host } = await setUpSession({ mcp: { one: { ...scripted(), enabled: false } } });
    const { data: added } = await host.mcp.add({ name: "one", config: scripted() });
    expect(added).toMatchObject({ name: "one", status: { status: "connected" } });
    expect(added.tools).toContain("one_echo");
    await host.mcp.remove({ name: "one" });
    expect(await readServer(host, "one")).toMatchObject({ status: { status: "disabled" }, tools: [] });
    await host.mcp.add({ name: "two", config: scripted() });
    await host.mcp.remove({ name: "two" });
    await host.mcp.remove({ name: "unknown" });
    const { data: left } = await host.mcp.list();
    expect(left.map(({ name }) => name)).toEqual(["one"]);
  });

  test("servers that are added at the same time all exist", async () => {
    const { host } = await setUpSession();
    const names = Array.from({ length: 40 }, (_, at) => `s${String(at).padStart(2, "0")}`);
    await Promise.all(names.map((name) => host.mcp.add({ name, config: { ...scripted(), enabled: false } })));
    const { data: servers } = await host.mcp.list();
    expect(servers.map(({ name }) => name)).toEqual(names);
  });

  test("clients learn of each state", async () => {
    const { host } = await setUpSession();
    const events = await subscribe(host);
    await host.mcp.add({ name: "one", config: scripted() });
    await host.mcp.remove({ name: "one" });
    const seen = await readUntil(events, "mcp.removed");
    const states = seen.flatMap((event) => (event.type === "mcp.updated" ? [event.data.server.status.status] : []));
    expect(states).toEqual(expect.arrayContaining(["connecting", "connected"]));
    expect(seen.map(({ type }) => type)).toContain("mcp.tools.changed");
  });

  test.each([
    ["name", { name: " ", config: scripted() }],
    ["config.command", { name: "a", config: { type: "local", command: [] } }],
    ["config.url", { name: "a", config: { type: "remote", url: "file:///a" } }],
  ] as const)("refuses a wrong %s", async (field, input) => {
    const { host } = await setUpSession();
    await expect(host.mcp.add(input as Parameters<typeof host.mcp.add>[0])).rejects.toMatchObject({
      _tag: "InvalidRequestError",
      field,
    });
  });

  test("refuses to reconnect an unknown server", async () => {
    const { host } = await setUpSession();
    await expect(host.mcp.reconnect({ name: "unknown" })).rejects.toMatchObject({
      _tag: "InvalidRequestError",
      field: "name",
    });
  });

  test("the option is checked, and names the wrong place", async () => {
    const setup = await setUp();
    const mcp = { files: { type: "local", command: "mcp" } };
    await expect(setup.open({ mcp } as object)).rejects.toMatchObject({
      _tag: "InvalidOptionError",
      option: "mcp.files.command",
    });
  });

  test("an untrusted project starts no server", async () => {
    const setup = await setUp();
    const marker = path.join(setup.directory, "started");
    const program = `require("fs").writeFileSync(${JSON.stringify(marker)}, "")`;
    const mcp = { evil: { type: "local", command: [process.execPath, "-e", program] } };
    setup.write("opencode.json", JSON.stringify({ mcp }));
    const host = await setup.open();
    const { id: sessionID } = await host.sessions.create();
    setup.model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    expect((await host.mcp.list()).data).toEqual([]);
    expect(existsSync(marker)).toBe(false);
    const { data: diagnostics } = await host.location.diagnostics();
    expect(diagnostics.map(({ message }) => message).join()).toContain("mcp has no effect");
  });
});

describe("tools", () => {
  test("calls settle with texts, failures, progress and structured values", async () => {
    const started = await setUpSession({ mcp: { all: everything } });
    const events = await subscribe(started.host);
    const results = await callTools(
      started,
      { name: "all_echo", input: { message: "hi" } },
      { name: "all_get-sum", input: { a: 2, b: 3 } },
      { name: "all_get-structured-content", input: { location: "Chicago" } },
      { name: "all_get-tiny-image", input: {} },
      { name: "all_trigger-long-running-operation", input: { duration: 0.01, steps: 3 } },
      { name: "all_get-sum", input: { a: "x" } },
    );
    expect(results[0]).toContain("Echo: hi");
    expect(results[1]).toContain("5");
    expect(results[2]).toContain("temperature");
    expect(results[4]).toContain("Long running operation completed");
    const calls = await readCalls(started.host, started.sessionID);
    expect(calls.map(({ state }) => state.status)).toEqual([
      "completed",
      "completed",
      "completed",
      "completed",
      "completed",
      "error",
    ]);
    expect(calls[2]?.state).toMatchObject({ structured: { temperature: expect.any(Number) } });
    const image = expect.objectContaining({ type: "file", mime: "image/png" });
    expect(calls[3]?.state).toMatchObject({ content: expect.arrayContaining([image]) });
    const seen = await readUntil(events, "session.idle");
    const progress = seen.flatMap((event) => (event.type === "session.next.tool.reported" ? [event.data] : []));
    expect(progress.length + seen.filter(({ type }) => type === "session.next.tool.progress").length).toBeGreaterThan(
      0,
    );
  });

  test("every tool of the reference server can be called", async () => {
    const started = await setUpSession({ mcp: { all: everything } });
    const { host, model } = started;
    await host.mcp.reconnect({ name: "all" });
    const { tools } = await readServer(host, "all");
    expect(tools.length).toBeGreaterThanOrEqual(14);
    const inputs: Record<string, object> = {
      all_echo: { message: "m" },
      "all_get-annotated-message": { messageType: "success" },
      "all_get-resource-reference": { resourceType: "Text", resourceId: 1 },
      "all_get-structured-content": { location: "Chicago" },
      "all_get-sum": { a: 1, b: 1 },
      "all_gzip-file-as-resource": { name: "a.txt.gz", data: "data:text/plain,hello", outputType: "resource" },
      "all_trigger-long-running-operation": { duration: 0.01, steps: 1 },
    };
    // These ask the user; `asks the user` tests them.
    const called = tools.filter((name) => !name.includes("elicitation") && !name.includes("research"));
    await callTools(started, ...called.map((name) => ({ name, input: inputs[name] ?? {} })));
    const calls = await readCalls(host, started.sessionID);
    const failed = calls.filter(({ state }) => state.status !== "completed").map(({ name }) => name);
    expect(failed).toEqual([]);
    expect(model.violations).toEqual([]);
  });

  test("the filesystem server reads and writes the files of the project", async () => {
    const setup = await setUp();
    setup.write("a.txt", "alpha\n");
    const host = await setup.open({ mcp: { files: filesystem(setup.directory) } });
    const session = await host.sessions.create();
    const started = { setup, host, model: setup.model, session, sessionID: session.id };
    const file = path.join(setup.directory, "b.txt");
    const results = await callTools(
      started,
      { name: "files_read_text_file", input: { path: path.join(setup.directory, "a.txt") } },
      { name: "files_write_file", input: { path: file, content: "beta" } },
      { name: "files_read_text_file", input: { path: path.join(setup.root, "opencode.db") } },
    );
    expect(results[0]).toContain("alpha");
    expect(readFileSync(file, "utf8")).toBe("beta");
    expect(results[2]).toMatch(/denied|outside/i);
  });

  test("hostile results fail or are cut, and later calls work", async () => {
    const started = await setUpSession({ mcp: { odd: scripted() } });
    const [failed, big, wrong, echo] = await callTools(
      started,
      { name: "odd_fail", input: {} },
      { name: "odd_big", input: {} },
      { name: "odd_wrong", input: {} },
      { name: "odd_echo", input: { text: "ok" } },
    );
    expect(failed).toContain("It does not work.");
    expect(big?.length).toBeLessThan(100_000);
    // A text without a list is a content.
    expect(wrong).toBe("a text");
    expect(echo).toContain("ok");
  });

  test("a server that dies fails its calls, and starts again", async () => {
    const started = await setUpSession({ mcp: { odd: scripted() } });
    const [died] = await callTools(started, { name: "odd_die", input: {} });
    expect(died).toContain("Connection closed");
    await started.host.mcp.reconnect({ name: "odd" });
    const [pid] = await callTools(started, { name: "odd_pid", input: {} });
    expect(Number(pid)).toBeGreaterThan(0);
  });

  test("an interruption settles a call that hangs", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { odd: scripted() } });
    const events = await subscribe(host);
    model.reply({ tools: [{ name: "odd_hang", input: {} }] });
    await host.sessions.prompt({ sessionID, prompt: { text: "Hang" } });
    await readUntil(events, "session.next.tool.called");
    await host.sessions.interrupt({ sessionID });
    const [call] = await readCalls(host, sessionID);
    expect(call?.state.status).toBe("error");
  });

  test("a changed tool list takes effect in the next turn", async () => {
    const started = await setUpSession({ mcp: { odd: scripted() } });
    const events = await subscribe(started.host);
    await callTools(started, { name: "odd_add", input: {} });
    await readUntil(events, "mcp.tools.changed");
    for (;;) {
      if ((await readServer(started.host, "odd")).tools.includes("odd_added")) break;
      await readUntil(events, "mcp.tools.changed");
    }
    const [result] = await callTools(started, { name: "odd_added", input: {} });
    expect(result).toBe("called");
  });

  test("rules decide about a tool by its name", async () => {
    const setup = await setUp();
    const config = { ...setup.model.config(), permission: { odd_echo: "deny", "odd_*": "ask" } };
    const host = await setup.open({ ...allowed, config: config as object, mcp: { odd: scripted() } });
    const session = await host.sessions.create();
    const started = { setup, host, model: setup.model, session, sessionID: session.id };
    const [asked] = await callTools(started, { name: "odd_pid", input: {} });
    expect(asked).toContain("odd_pid is not permitted");
  });

  test("variables with secrets do not reach a server, and those of its description do", async () => {
    const server = { ...scripted(), environment: { OWN: "own value" } };
    const env = { PATH: process.env.PATH, OPENAI_API_KEY: "sk-hidden-0123456789" };
    const started = await setUpSession({ env, mcp: { odd: server } });
    const [own, key] = await callTools(
      started,
      { name: "odd_env", input: { text: "OWN" } },
      { name: "odd_env", input: { text: "OPENAI_API_KEY" } },
    );
    expect([own, key]).toEqual(["own value", "unset"]);
  });
});

describe("over HTTP", () => {
  test("a remote server has the same tools", async () => {
    const { url } = await startEverything();
    const started = await setUpSession({ mcp: { all: { type: "remote", url } } });
    const results = await callTools(
      started,
      { name: "all_echo", input: { message: "hi" } },
      { name: "all_get-sum", input: { a: 2, b: 3 } },
    );
    expect(results[0]).toContain("Echo: hi");
    expect(results[1]).toContain("5");
  });

  test("a server that was killed fails its calls and can be used again after its restart", async () => {
    const { url, port, child } = await startEverything();
    const started = await setUpSession({ mcp: { all: { type: "remote", url, timeout: { request: 5000 } } } });
    await callTools(started, { name: "all_echo", input: { message: "hi" } });
    await kill(child);
    const [failed] = await callTools(started, { name: "all_echo", input: { message: "hi" } });
    expect(failed).not.toContain("Echo: hi");
    await startEverything(port);
    await started.host.mcp.reconnect({ name: "all" });
    const [again] = await callTools(started, { name: "all_echo", input: { message: "hi" } });
    expect(again).toContain("Echo: hi");
  });

  test("an address without a server fails no session", async () => {
    const mcp = { none: { type: "remote", url: "http://127.0.0.1:9/mcp", timeout: { startup: 2000 } } } as const;
    const { host, model, sessionID } = await setUpSession({ mcp });
    model.reply({ text: "Hello." });
    await run(host, sessionID, "Hi");
    expect((await readMessages(host, sessionID)).at(-1)).toMatchObject({ finish: "stop" });
  });
});

describe("resources, prompts, instructions and questions", () => {
  test("the model lists and reads resources", async () => {
    const started = await setUpSession({ mcp: { all: everything } });
    const [listed, templates] = await callTools(
      started,
      { name: "list_mcp_resources", input: {} },
      { name: "list_mcp_resource_templates", input: { server: "all" } },
    );
    expect(listed).toContain('"server":"all"');
    expect(templates).toContain("uriTemplate");
    const { data: resources } = await started.host.mcp.resources();
    const [read] = await callTools(started, {
      name: "read_mcp_resource",
      input: { server: "all", uri: resources[0]?.uri },
    });
    expect(read?.length).toBeGreaterThan(10);
  });

  test("a prompt carries a resource", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { all: everything } });
    const { data: resources } = await host.mcp.resources();
    const { attachment = "" } = resources[0] ?? {};
    model.reply({ text: "Read." });
    await host.sessions.prompt({ sessionID, prompt: { text: "Look", files: [{ uri: attachment }] } });
    await host.sessions.wait({ sessionID });
    const { text } = await model.received(1);
    expect(text).toContain("<attachment");
    expect(text).not.toContain("was not read");
  });

  test("a resource that does not exist is named with the reason", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { all: everything } });
    model.reply({ text: "Read." });
    const uri = "mcp://all/demo%3A%2F%2Fnothing";
    await host.sessions.prompt({ sessionID, prompt: { text: "Look", files: [{ uri }] } });
    await host.sessions.wait({ sessionID });
    expect((await model.received(1)).text).toContain("was not read");
  });

  test("prompts are commands with placeholders", async () => {
    const { host } = await setUpSession({ mcp: { all: everything } });
    const { data: commands } = await host.commands.list();
    const names = commands.map(({ name }) => name);
    expect(names).toContain("all:simple-prompt");
    const withArguments = commands.find(({ name }) => name === "all:args-prompt");
    expect(withArguments?.template).toContain("$1");
  });

  test("a prompt of a server runs as a command with its real arguments", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { all: everything } });
    model.reply({ text: "Warm." });
    const command = { sessionID, command: "all:args-prompt", arguments: "'New York' and @more" };
    const { prompt } = await host.commands.run(command);
    expect(prompt.text).toContain("New York");
    expect(prompt.text).not.toContain("$1");
    await host.sessions.wait({ sessionID });
    expect((await model.received(1)).text).toContain("New York");
    await expect(host.commands.run({ sessionID, command: "all:none" })).rejects.toMatchObject({
      _tag: "CommandNotFoundError",
    });
  });

  test("a list of commands requests no prompt of a server", async () => {
    const { host, sessionID } = await setUpSession({ mcp: { odd: scripted("prompts") } });
    const { data: commands } = await host.commands.list();
    expect(commands.find(({ name }) => name === "odd:greet")).toMatchObject({ template: "$1" });
    const command = { sessionID, command: "odd:greet", arguments: "Ada", resume: false };
    // The server refuses the first request, which is the first of a run.
    await expect(host.commands.run(command)).rejects.toMatchObject({ _tag: "ServiceUnavailableError" });
    expect((await host.commands.run(command)).prompt.text).toBe("Greet Ada.");
  });

  test("instructions of a server are part of the System Context, and their end is told", async () => {
    const { host, model, sessionID } = await setUpSession({ mcp: { odd: scripted("instructions") } });
    model.reply({ text: "One." }, { text: "Two." });
    await run(host, sessionID, "One");
    expect((await model.received(1)).text).toContain("Prefer echo.");
    await host.mcp.add({ name: "odd", config: { ...scripted(), enabled: false } });
    await run(host, sessionID, "Two");
    const second = await model.received(2);
    expect(JSON.stringify(second.body.messages.slice(2))).toContain("do not apply");
  });

  test("a server asks the user of the session that calls it", async () => {
    const setup = await setUp();
    const host = await setup.open({ mcp: { all: everything } });
    const { id: sessionID } = await host.sessions.create();
    const asked: string[] = [];
    host.questions.handle(({ questions }) => {
      asked.push(...questions.map(({ question }) => question));
      return questions.map(({ options }) => [options[0]?.label ?? "Ada"]);
    });
    setup.model.reply({ tools: [{ name: "all_trigger-elicitation-request", input: {} }] }, { text: "Done." });
    await run(host, sessionID, "Ask");
    expect(asked.length).toBeGreaterThan(0);
    const [call] = await readCalls(host, sessionID);
    expect(call?.name).toBe("all_trigger-elicitation-request");
    expect(call?.state.status).toBe("completed");
  });
});

describe("servers that break the rules", () => {
  test.each(["noise", "flood"])("%s: fails, and the session goes on", async (behaviour) => {
    const mcp = { odd: { ...scripted(behaviour), timeout: { startup: 3000 } }, good: scripted() };
    const started = await setUpSession({ mcp });
    const [echo] = await callTools(started, { name: "good_echo", input: { text: "ok" } });
    expect(echo).toContain("ok");
  });

  test("calls of many sessions settle while their server is killed again and again", async () => {
    const setup = await setUp();
    const host = await setup.open({ mcp: { odd: scripted() } });
    const sessions = await Promise.all(Array.from({ length: 10 }, () => host.sessions.create()));
    const pids = new Set<string>();
    for (let round = 0; round < 4; round++) {
      const calls = Array.from({ length: 5 }, (_, at) => ({ name: "odd_echo", input: { text: `${round} ${at}` } }));
      const killing = { name: "odd_die", input: { text: `${round}` } };
      const replies = sessions.flatMap((_, at) => [
        { tools: at === 0 ? [...calls, killing] : calls },
        { text: "Done." },
      ]);
      for (const reply of replies.filter((it) => "tools" in it)) setup.model.reply(reply);
      for (const reply of replies.filter((it) => "text" in it)) setup.model.reply(reply);
      await Promise.all(sessions.map(({ id }) => run(host, id, `Round ${round}`)));
      await host.mcp.reconnect({ name: "odd" });
      const session = await host.sessions.create();
      const started = { setup, host, model: setup.model, session, sessionID: session.id };
      const [pid = ""] = await callTools(started, { name: "odd_pid", input: {} });
      expect(Number(pid)).toBeGreaterThan(0);
      pids.add(pid);
    }
    expect(pids.size).toBe(4);
    // A fast session may take the calls that were meant for a slow one.
    const calls = (await Promise.all(sessions.map(({ id }) => readCalls(host, id)))).flat();
    expect(calls).toHaveLength(4 * (10 * 5 + 1));
    for (const { state } of calls) {
      if (state.status === "completed") continue;
      expect(state).toMatchObject({ status: "error", error: { message: expect.stringMatching(/closed|connected/) } });
    }
  });

  test("fifty calls at once, while another server dies again and again", async () => {
    const started = await setUpSession({ mcp: { good: scripted(), bad: scripted() } });
    const calls = Array.from({ length: 50 }, (_, index) => ({ name: "good_echo", input: { text: `n${index}` } }));
    const results = await callTools(started, ...calls, { name: "bad_die", input: {} });
    expect(results.slice(0, 50).every((result, index) => result.includes(`n${index}`))).toBe(true);
    expect(results[50]).toContain("Connection closed");
  });
});
