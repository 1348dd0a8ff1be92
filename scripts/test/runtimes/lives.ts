// Opens a host, performs one action with it, and returns. The event loop decides when the process ends.

import { existsSync, watch } from "node:fs";
import path from "node:path";
import type { OpenCodeHost } from "opencode-embedded";
import { directory, open } from "./support.ts";

const sessionID = "ses_life";

const lives: Record<string, (host: OpenCodeHost) => Promise<void>> = {
  /** Leaves functions of the program registered and streams open. */
  async idle(host) {
    host.permissions.handle(() => "once");
    await host.sessions.switchAgent({ sessionID, agent: "plan" });
    for (const stream of [host.events.subscribe(), host.sessions.events({ sessionID })]) {
      await stream[Symbol.asyncIterator]().next();
    }
  },
  /** Returns before the model has answered. */
  async prompting(host) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
  },
  /** Prints the messages of the previous program. */
  async reading(host) {
    const messages = await host.sessions.context({ sessionID });
    console.log(JSON.stringify(messages.flatMap((message) => (message.type === "assistant" ? message.content : []))));
  },
  /** Waits during a command, which writes a file when it has started. */
  async killed(host) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Wait" } });
    await waitForFile(path.join(directory, "pid"));
    process.kill(process.pid, "SIGKILL");
  },
  /** Listens until a client has finished. */
  async serving(host) {
    const live = host.events.subscribe()[Symbol.asyncIterator]();
    await live.next();
    const listener = await host.listen();
    console.log(listener.clientUrl);
    for (let done = false; !done;) {
      const { value } = await live.next();
      done = value?.type === "session.created" && value.data.sessionID === "ses_done";
    }
    await listener.close();
  },
};

/** Resolves when a file exists. */
function waitForFile(file: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(path.dirname(file), look);
    look();
  });
}

const life = lives[process.argv[2] ?? ""];
const host = await open({ database: path.resolve("lives.db") });
await host.sessions.create({ id: sessionID });
await life?.(host);
