import { describe } from "./checks.js";
import { words } from "./registration.js";
import type { OpenCodeHost, SessionInfo, ShareOptions } from "../index.js";
import type { Program } from "./program.js";

interface ShareInput {
  session: SessionInfo;
}

/** Lets the functions of the option `share` publish and remove copies of sessions. */
export function answerShare(program: Program, host: Pick<OpenCodeHost, "sessions">, share: ShareOptions) {
  program.define("share.publish", async ({ session }: ShareInput, { signal }) => {
    const lines = host.sessions.export({ sessionID: session.id }, { signal });
    const published: unknown = await called(() => share.publish({ session, lines, signal }));
    if (typeof published === "object" && published !== null && "url" in published) {
      if (typeof published.url === "string") return { result: published.url };
    }
    throw new TypeError(`it must give { url }, got ${describe(published)}`);
  });
  program.define("share.remove", async ({ session }: ShareInput, { signal }) => {
    await called(() => share.remove({ session, signal }));
    return { result: null };
  });
}

async function called<T>(run: () => T | Promise<T>) {
  try {
    return await run();
  } catch (error) {
    throw new Error(words(error), { cause: error });
  }
}
