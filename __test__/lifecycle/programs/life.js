"use strict";

// Opens a host and does one thing with it, then lets the event loop decide when the process ends.

const { input, open, say } = require("./support.js");

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
  async reading(host) {
    const controller = new AbortController();
    process.once("SIGUSR2", () => controller.abort());
    const live = host.events.subscribe({ signal: controller.signal })[Symbol.asyncIterator]();
    await live.next();
    const pending = live.next();
    say("reading");
    await pending.catch(() => say("aborted"));
  },
  async waiting(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
    say("waiting");
    await host.sessions.wait({ sessionID });
    say("settled");
  },
  async exiting(host, sessionID) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Once more" } });
    process.exit(7);
  },
  async failing() {
    setImmediate(() => {
      throw new Error("Nobody catches this");
    });
  },
};

async function main() {
  const host = await open();
  const { id } = await host.sessions.create({ id: "ses_life" });
  await host.sessions.prompt({ sessionID: id, prompt: { text: "Hi" } });
  await host.sessions.wait({ sessionID: id });
  await lives[input.life]?.(host, id);
  say("done");
}

void main();
