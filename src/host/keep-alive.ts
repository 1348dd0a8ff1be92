import type { NativeHost } from "./native-types.js";

/**
 * Keeps the process alive while a Session Drain runs. Node stays alive while a native promise is pending, and an open
 * host has no other pending promise.
 *
 * A drain is always covered by a promise. It is started by a request, by the recovery at opening, or by another
 * drain. Each of these is itself a pending promise until the drain is registered. So it is enough to check for
 * running drains when such a promise settles, in the same turn of the event loop, which cannot end before: after
 * opening, after every request, and after the promise of idleness, because another drain may have started since.
 * There is no polling, and no other thread has to reach an event loop that may have ended.
 *
 * @returns A function that checks. Call it when a promise of this host has settled.
 */
export function keepAlive(native: NativeHost): () => void {
  let holding = false;
  const hold = async () => {
    if (holding) return;
    holding = true;
    for (let idle = native.untilIdle(); idle !== null; idle = native.untilIdle()) await idle;
    holding = false;
  };
  return () => void hold();
}
