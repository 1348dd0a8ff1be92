// Runs all checks that need one process. Reports in the format of Jest.

import { checks as sessions } from "./sessions.ts";
import { checks as streams } from "./streams.ts";
import { messageOf } from "./support.ts";

let numPassedTests = 0;
for (const [name, check] of [...sessions, ...streams]) {
  try {
    await check();
    numPassedTests += 1;
  } catch (error) {
    console.error(`${name}:\n${messageOf(error)}`);
    process.exitCode = 1;
  }
}
console.log(JSON.stringify({ numPassedTests }));
