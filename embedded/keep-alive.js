"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.keepAlive = keepAlive;
/**
 * Keeps the process alive while a Session Drain runs: Node stays as long as a native promise is pending, and an
 * open host has none otherwise.
 *
 * Why a drain never runs without one: a drain is begun by a request, by the recovery at opening, or in the course
 * of another drain. Each of these is itself a pending promise, until the drain is registered. So it is enough to
 * ask whether something runs whenever such a promise has settled, in the same turn of the event loop, which cannot
 * end in between: after opening, after every request, and after the promise of idleness, because something else may
 * have begun since it was fulfilled. Nothing is polled, and no call from another thread has to reach an event loop
 * that may have ended.
 *
 * @returns Asks; to be called when a promise of this host has settled.
 */
function keepAlive(native) {
    let holding = false;
    const hold = async () => {
        if (holding)
            return;
        holding = true;
        for (let idle = native.untilIdle(); idle !== null; idle = native.untilIdle())
            await idle;
        holding = false;
    };
    return () => void hold();
}
