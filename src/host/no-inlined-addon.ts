// `#inlined-addon` for every runtime and bundler that is not Bun: nothing is inlined.

import type { InlinedAddon } from "./native.js";

export function loadInlinedAddon(_platform: string): InlinedAddon | undefined {
  return undefined;
}
