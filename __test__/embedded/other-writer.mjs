// Another SQLite program that writes to a database until its input ends. Bun runs it, which has SQLite.
// It opens the file anew for each row, because closing is where SQLite looks for the locks of other programs.
// Before 3.51 it then deletes the log of a host whose locks are gone.

// @ts-expect-error Bun has this module; its types are not installed.
import { Database } from "bun:sqlite";

const [file = ""] = process.argv.slice(2);

/** What each statement answers, executed one after the other. @param {string[]} statements */
function execute(...statements) {
  const database = new Database(file);
  const answers = ["PRAGMA busy_timeout = 10000", ...statements].map((text) => {
    const statement = database.prepare(text);
    const [answer] = statement.values();
    statement.finalize();
    return answer?.[0];
  });
  // Fails where a statement would keep the file open.
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
  // Lets the end of the input arrive.
  await new Promise((resolve) => setImmediate(resolve));
}
const [found, integrity] = execute("SELECT count(*) FROM other", "PRAGMA integrity_check");
console.log(JSON.stringify({ rows, found, integrity }));
