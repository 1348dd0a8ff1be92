// Runs one prompt from its admission to the answer. Then opens the file again and shows the stored session.

import { OpenCode } from "../../index.mjs";
import { Failure } from "../lib/failure.mjs";
import { bold, cyan, dim, formatDuration } from "../lib/terminal.mjs";
import { explain } from "./explain.mjs";
import { Printer, summarise } from "./print.mjs";

/**
 * @param {import("./provider.mjs").Setup} setup
 */
export async function runAndReopen({ model, prompt, options }) {
  console.log(`${bold("model")}      ${model}`);
  console.log(`${bold("directory")}  ${options.directory}`);
  console.log(`${bold("database")}   ${options.database}\n`);
  const sessionID = await withHost(options, (opencode) => runSession(opencode, prompt));
  const began = performance.now();
  await withHost(options, async (opencode) => {
    console.log(dim(`Closed, and opened again in ${formatDuration(performance.now() - began)}. The file contains:`));
    await showStored(opencode, sessionID);
  });
}

/**
 * @template T
 * @param {import("../../index.js").OpenCodeOptions} options
 * @param {(opencode: import("../../index.js").OpenCodeHost) => Promise<T>} use
 */
async function withHost(options, use) {
  const opencode = await OpenCode.create(options).catch(rethrow);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    // Closing settles all running work, so the session could be continued.
    void opencode.close();
  };
  process.once("SIGINT", stop);
  try {
    return await use(opencode);
  } catch (error) {
    if (isStopped) throw new Failure("Interrupted. The text until then is stored");
    return rethrow(error);
  } finally {
    process.off("SIGINT", stop);
    await opencode.close();
  }
}

/**
 * Rethrows an error. A declared failure of the contract is shown as one sentence, because its message explains itself.
 *
 * @param {unknown} error
 * @returns {never}
 */
function rethrow(error) {
  const isDeclared = typeof error === "object" && error !== null && "_tag" in error;
  throw isDeclared ? new Failure(String(/** @type {{ message?: string }} */ (error).message)) : error;
}

/**
 * @param {import("../../index.js").OpenCodeHost} opencode
 * @param {string} prompt
 */
async function runSession(opencode, prompt) {
  console.log(`${cyan(">")} ${prompt}\n`);
  const printer = new Printer();
  const run = opencode.sessions.run({ prompt });
  for await (const part of run) printer.print(part);
  const result = await run.result;
  if (result.error !== undefined) throw new Failure(explain(result.error));
  if (result.outcome !== "completed") throw new Failure(`The run is ${result.outcome}: ${result.reason}`);
  console.log(`\n${dim(printer.statistics(result))}`);
  return result.sessionID;
}

/**
 * @param {import("../../index.js").OpenCodeHost} opencode
 * @param {string} sessionID
 */
async function showStored(opencode, sessionID) {
  const messages = await opencode.sessions.context({ sessionID });
  for (const message of messages) console.log(`  ${summarise(message)}`);
  console.log(`${messages.length} messages and ${await countEvents(opencode, sessionID)} durable events`);
}

/**
 * @param {import("../../index.js").OpenCodeHost} opencode
 * @param {string} sessionID
 */
async function countEvents(opencode, sessionID) {
  let count = 0;
  let after;
  for (let more = true; more;) {
    const { data, hasMore } = await opencode.sessions.history({ sessionID, after });
    count += data.length;
    after = data.at(-1)?.durable.seq;
    more = hasMore;
  }
  return count;
}
