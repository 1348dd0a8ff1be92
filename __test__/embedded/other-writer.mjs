// Another SQLite program that writes to a database until its input ends. Bun runs it, because Bun includes SQLite. It
// opens the file again for each row, because SQLite checks the locks of other programs on closing. Before 3.51, SQLite
// then deletes the log of a host whose locks are lost.

// @ts-expect-error Bun has this module; its types are not installed.
import { Database } from "bun:sqlite";

const [file = ""] = process.argv.slice(2);

/** The results of the statements, executed in order. @param {string[]} statements */
function execute(...statements) {
  const database = new Database(file);
  const answers = ["PRAGMA busy_timeout = 10000", ...statements].map((text) => {
    const statement = database.prepare(text);
    const [answer] = statement.values();
    statement.finalize();
    return answer?.[0];
  });
  // Throws if a statement keeps the file open.
  database.close(true);
  return answers.slice(1);
}

process.stdin.resume();
execute("CREATE TABLE other (text BLOB)");
console.log("ready");
let rows = 0;
while (!process.stdin.readableEnded) {
  execute("INSERT INTO other VALUES (zeroblob(2000))");
  rows += 1;
  // Lets the process receive the end of the input.
  await new Promise((resolve) => setImmediate(resolve));
}
const [found, integrity] = execute("SELECT count(*) FROM other", "PRAGMA integrity_check");
console.log(JSON.stringify({ rows, found, integrity }));
