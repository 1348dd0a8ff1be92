// Gives the decoders of both sides more random input than the tests do: npm run fuzz [-- cases of each property].

import { Failure, runScript } from "./lib/failure.mjs";
import { runInForeground } from "./lib/process.mjs";
import { cargo, tool } from "./lib/tools.mjs";

/** The tests that look for inputs by themselves. Each reads how many from the environment. */
const COMMANDS = [
  cargo("test", "--quiet", "--locked", "--package", "opencode-protocol", "--test", "fuzz"),
  cargo("test", "--quiet", "--locked", "--package", "opencode-server", "--lib", "path::"),
  tool("jest", "jest", "--testTimeout=1000000000", "__test__/sdk/sse-fuzz"),
];

await runScript(async () => {
  const [cases = "100000"] = process.argv.slice(2);
  if (!/^[1-9]\d*$/.test(cases)) throw new Failure(`Cases are counted by a whole number from 1 on, not by ${cases}`);
  process.env.PROPTEST_CASES = cases;
  process.env.FUZZ_CASES = cases;
  for (const command of COMMANDS) {
    const code = await runInForeground(command);
    if (code !== 0) process.exitCode = code;
  }
});
