// Plugins of a host: functions that bundle registrations.

import { describe } from "./checks.js";
import { words } from "./registration.js";
import type { OpenCodeHost, Plugin, PluginDisposal } from "../index.js";

/** Maximum time for the disposal of all plugins. */
const DISPOSAL_TIMEOUT_MS = 5_000;

/** Disposes of all plugins, the last one first. It never rejects. */
export type DisposePlugins = () => Promise<void>;

/**
 * Calls the plugins one after the other. If one fails, disposes of those before it and rejects with its error.
 *
 * @returns Undefined if no plugin needs a disposal.
 */
export async function startPlugins(
  plugins: readonly Plugin[],
  host: OpenCodeHost,
  warn: (message: string) => void,
): Promise<DisposePlugins | undefined> {
  const disposals: (() => unknown)[] = [];
  const dispose = () => withinTime(disposeAll(disposals, warn), warn);
  try {
    for (const plugin of plugins) {
      const disposal = readDisposal(await plugin(host));
      if (disposal !== undefined) disposals.push(disposal);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return disposals.length === 0 ? undefined : dispose;
}

async function disposeAll(disposals: (() => unknown)[], warn: (message: string) => void) {
  for (let dispose = disposals.pop(); dispose !== undefined; dispose = disposals.pop()) {
    try {
      await dispose();
    } catch (error) {
      warn(`The disposal of a plugin failed: ${words(error)}`);
    }
  }
}

async function withinTime(disposal: Promise<void>, warn: (message: string) => void) {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      warn(`The disposal of the plugins took more than ${DISPOSAL_TIMEOUT_MS} milliseconds`);
      resolve();
    }, DISPOSAL_TIMEOUT_MS);
  });
  await Promise.race([disposal, overdue]);
  clearTimeout(timer);
}

function readDisposal(disposal: PluginDisposal | void): (() => unknown) | undefined {
  if (disposal === undefined) return undefined;
  if (typeof disposal === "function") return disposal;
  if (typeof disposal === "object" && disposal !== null) {
    const members = disposal as {
      [Symbol.dispose]?: () => unknown;
      [Symbol.asyncDispose]?: () => unknown;
      dispose?: () => unknown;
    };
    const method =
      (Symbol.asyncDispose && members[Symbol.asyncDispose]) ??
      (Symbol.dispose && members[Symbol.dispose]) ??
      members.dispose;
    if (typeof method === "function") return () => method.call(disposal);
  }
  throw new TypeError(
    `A plugin must return a function, a Registration, a Disposable or nothing, got ${describe(disposal)}`,
  );
}
