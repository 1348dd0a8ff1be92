// For Jest and Vitest, which both have a global `test`.

import { checks } from "./checks.js";

declare const test: (name: string, check: () => Promise<void>) => void;

for (const [name, check] of checks) test(name, check);
