// The facade: the client of `opencode-embedded/client`, and the host that answers the same methods in memory.

import { openHost } from "./host/host.js";
import type { OpenCodeOptions } from "./host/generated/options.js";
import type { OpenCodeHost } from "./host/host-types.js";

export * from "./client/index.js";
export { unavailable } from "./host/unavailable.js";

export type * from "./host/generated/config.js";
export type * from "./host/generated/options.js";
export type * from "./host/context-source-types.js";
export type * from "./host/hook-types.js";
export type * from "./host/host-types.js";
export type * from "./host/model-types.js";
export type * from "./host/option-types.js";
export type * from "./host/tool-types.js";
export type { ImportedFolderSession, ImportFolderInput } from "./host/session-folder.js";

/** Creates hosts. */
export const OpenCode: {
  /**
   * Opens a host on one SQLite file. Creates the file if it does not exist.
   *
   * Rejects with `InvalidOptionError`, `AddonUnavailableError`, `DatabaseUnavailableError`, `DatabaseVersionError` or
   * `DatabaseInUseError`. A bug of this package rejects with `UnknownError`.
   *
   * @example
   * ```ts
   * await using opencode = await OpenCode.create({ model: "openai/gpt-4.1-mini" })
   * const session = await opencode.sessions.create()
   * ```
   */
  create(options?: OpenCodeOptions): Promise<OpenCodeHost>;
} = Object.freeze({ create: (options?: OpenCodeOptions) => openHost(options) });
