"use strict";

// Opens a host, performs one action with it, and returns. The event loop decides when the process ends.

const v8 = require("node:v8");
const { runInNewContext } = require("node:vm");
const { input, open, print } = require("./support.js");

/** @type {Record<string, (host: import("../../../index.js").OpenCodeHost, sessionID: string) => Promise<void>>} */
const lives = {
  async closed(host) {
    await host.close();
  },
  async idle() {},
  async unread(host, sessionID) {
    for (const stream of [host.events.subscribe(), host.sessions.events({ sessionID })]) {
      await stream[Symbol.asyncIterator]().next();
    }
  },
  async attending(host) {
    host.permissions.handle(() => "once");
    host.questions.handle(() => undefined);
    host.ptys.environment(() => ({}));
    host.hooks.onRequest(() => undefined);
    host.contextSources.register({ key: "test/never", load: () => undefined, baseline: () => "" });
    host.providers.register({ id: "never", models: { m1: {} }, stream: () => [] });
    host.tools.register({ name: "never", description: "Is never called.", input: { type: "object" }, execute() {} });
  },
  // The host and its handler are unreferenced after the function has returned.
  async answering(host, sessionID) {
    host.permissions.handle(() => {
      collectGarbage(20);
      return "once";
    });
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
  },
  // The host and its tool are unreferenced after the function has returned.
  async calling(host, sessionID) {
    host.tools.register({
      name: "collect",
      description: "Collects garbage.",
      input: { type: "object" },
      async execute() {
        collectGarbage(20);
        await new Promise((resolve) => process.once("collected", resolve));
        return "Collected.";
      },
    });
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
  },
  async reading(host) {
    const controller = new AbortController();
    process.once("SIGUSR2", () => controller.abort());
    const live = host.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    await live.next();
    const pending = live.next();
    print("reading");
    await pending.catch(() => print("aborted"));
  },
  async waiting(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
    print("waiting");
    await host.sessions.wait({ sessionID });
    print("settled");
  },
  async prompting(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
  },
  async queueing(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
    await host.sessions.prompt({ sessionID, prompt: { text: "And again" }, delivery: "queue" });
  },
  async fetching(host, sessionID) {
    const body = JSON.stringify({ prompt: { text: "Once more" } });
    const headers = { "content-type": "application/json" };
    await host.fetch(`http://host/api/session/${sessionID}/prompt`, { method: "POST", headers, body });
  },
  async resuming(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" }, resume: false });
    await host.sessions.resume({ sessionID });
  },
  async redelivering(host, sessionID) {
    const prompt = { text: "Once more" };
    const { id: messageID } = await host.sessions.prompt({ sessionID, prompt, delivery: "queue", resume: false });
    await host.sessions.inbox.setDelivery({ sessionID, messageID, delivery: "steer" });
  },
  async aborting(host, sessionID) {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const prompt = host.sessions.prompt({ sessionID, prompt: { text: "Once more" } }, options);
    controller.abort();
    await prompt.catch(() => print("aborted"));
  },
  async listening(host) {
    const listener = await host.listen();
    process.once("SIGUSR2", () => void listener.close().then(() => print("closed")));
    print("listening", { url: listener.clientUrl });
  },
  // The host and its listener are unreferenced after the function has returned.
  async forgetting(host) {
    const { clientUrl } = await host.listen();
    print("listening", { url: clientUrl });
    setInterval(() => {}, 1_000);
    collectGarbage(20);
  },
  leaving: promptToTheMiddle,
  async terminating(host, sessionID) {
    process.once("SIGTERM", () => void host.close().then(() => print("closed")));
    await promptToTheMiddle(host, sessionID);
  },
  async exiting(host, sessionID) {
    await promptToTheMiddle(host, sessionID);
    process.exit(7);
  },
  async failing(host, sessionID) {
    await promptToTheMiddle(host, sessionID);
    setImmediate(() => {
      throw new Error("An uncaught error");
    });
  },
};

/**
 * Several times, because one collection may release the objects that hold others.
 *
 * @param {number} times
 */
function collectGarbage(times) {
  v8.setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  if (times > 1) setImmediate(collectGarbage, times - 1);
  else {
    print("collected");
    process.emit(/** @type {"beforeExit"} */ ("collected"), 0);
  }
}

/**
 * Prompts and waits for the first piece of the answer.
 *
 * @param {import("../../../index.js").OpenCodeHost} host
 * @param {string} sessionID
 */
async function promptToTheMiddle(host, sessionID) {
  const live = host.events.subscribe()[Symbol.asyncIterator]();
  await live.next();
  await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
  for (let type; type !== "session.next.text.delta";) ({ type } = (await live.next()).value);
}

async function main() {
  const host = await open();
  const { id } = await host.sessions.create({ id: "ses_life" });
  await host.sessions.prompt({ sessionID: id, prompt: { text: "Hi" } });
  await host.sessions.wait({ sessionID: id });
  await lives[input.life]?.(host, id);
  print("done");
}

void main();
