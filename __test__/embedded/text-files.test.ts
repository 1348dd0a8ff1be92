import { readFileSync } from "node:fs";
import path from "node:path";
import { readMessages, run, setUpSession } from "./support";

interface Call {
  name: string;
  input: object;
}

/** Lets the model make calls, one in each answer, and returns what it reads of each. */
async function results(started: Awaited<ReturnType<typeof setUpSession>>, ...calls: Call[]) {
  const { host, model, sessionID } = started;
  model.reply(...calls.map((call) => ({ tools: [call] })), { text: "Done." });
  await run(host, sessionID, "Change the files");
  const messages = await readMessages(host, sessionID);
  const parts = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
  return parts.filter((part) => part.type === "tool").map((part) => part.state);
}

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

test("each tool that changes a file keeps its line ends and its encoding", async () => {
  const started = await setUpSession();
  const { setup } = started;
  const file = (name: string) => path.join(setup.directory, name);
  setup.write("app.cs", "class A\r\n{\r\n  int x;\r\n}\r\n");
  setup.write("mixed.txt", "one\ntwo\nthree\r\nfour\nfive\n");
  setup.write("open.txt", "a\nb");
  setup.write("wide.txt", utf16("alpha\r\nbeta\r\n"));
  setup.write("latin.txt", Buffer.from("caf\u00e9 noir\n", "latin1"));
  const patch = [
    "*** Begin Patch",
    "*** Update File: app.cs",
    " {",
    "-  int x;",
    "+  int y;",
    "+  int z;",
    "",
    "  *** Update File: open.txt",
    "@@ -1,2 +1,2 @@",
    "-a",
    "+A",
    " b",
    "\\ No newline at end of file",
    "*** End Patch",
  ].join("\n");
  const states = await results(
    started,
    { name: "apply_patch", input: { patchText: patch } },
    { name: "edit", input: { path: "mixed.txt", oldString: "five", newString: "5\n6" } },
    { name: "edit", input: { path: "latin.txt", oldString: "noir", newString: "cr\u00e8me" } },
    { name: "write", input: { path: "wide.txt", content: "alpha\ngamma\n" } },
  );
  expect(states).toMatchObject(states.map(() => ({ status: "completed" })));
  expect(readFileSync(file("app.cs"), "utf8")).toBe("class A\r\n{\r\n  int y;\r\n  int z;\r\n}\r\n");
  expect(readFileSync(file("open.txt"), "utf8")).toBe("A\nb");
  expect(readFileSync(file("mixed.txt"), "utf8")).toBe("one\ntwo\nthree\r\nfour\n5\n6\n");
  expect(readFileSync(file("latin.txt"), "latin1")).toBe("caf\u00e9 cr\u00e8me\n");
  expect(readFileSync(file("wide.txt"))).toEqual(utf16("alpha\r\ngamma\r\n"));
});

test("reads texts by their bytes, and tells why others cannot be read", async () => {
  const started = await setUpSession();
  started.setup.write("w.ps1", utf16("hello wide\r\n"));
  started.setup.write("latin.txt", Buffer.from("caf\u00e9 noir\n", "latin1"));
  started.setup.write("data.dat", "plain text\n");
  started.setup.write("gbk.txt", Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a]));
  const states = await results(
    started,
    { name: "read", input: { path: "w.ps1" } },
    { name: "read", input: { path: "latin.txt", offset: 1, limit: 1 } },
    { name: "read", input: { path: "data.dat" } },
    { name: "read", input: { path: "gbk.txt" } },
  );
  expect(states).toMatchObject([
    { status: "completed", structured: { content: "hello wide\r\n" } },
    { status: "completed", structured: { content: "caf\u00e9 noir" } },
    { status: "completed", structured: { content: "plain text\n" } },
    { status: "error", error: { message: expect.stringContaining("encoding that is not certain") } },
  ]);
});
