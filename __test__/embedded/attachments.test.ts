import { pathToFileURL } from "node:url";
import { setUp } from "./support";

/** The texts of the messages of a request, one string per message. */
function messageTexts(body: { messages: readonly { role: string; content: unknown }[] }) {
  return body.messages.map(
    ({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
  );
}

test("sends the model the text of attached files as it was at Prompt Promotion", async () => {
  const setup = await setUp();
  setup.write("notes.md", "Buy milk.\n");
  setup.model.reply({ text: "Noted." }, { text: "Still." });
  let host = await setup.open();
  const { id: sessionID } = await host.sessions.create({});
  const prompt = {
    text: "Read these",
    files: [
      { uri: pathToFileURL(`${setup.directory}/notes.md`).href, name: "notes.md" },
      { uri: `data:application/json;base64,${Buffer.from('{"a":1}').toString("base64")}`, name: "a.json" },
      { uri: pathToFileURL(`${setup.directory}/none.txt`).href, name: "none.txt" },
    ],
  };
  const { id } = await host.sessions.prompt({ sessionID, prompt });
  await host.sessions.wait({ sessionID });
  const first = messageTexts(setup.model.requests[0]!.body).join("\n");
  expect(first).toContain("Buy milk.");
  expect(first).toContain('{"a":1}');
  expect(first).toMatch(/none\.txt.* was not read/);

  setup.write("notes.md", "Sell milk.\n");
  await host.sessions.prompt({ sessionID, id, prompt });
  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  await host.close();
  host = await setup.open();
  await host.sessions.prompt({ sessionID, prompt: { text: "And?" } });
  await host.sessions.wait({ sessionID });
  const second = messageTexts(setup.model.requests[1]!.body).join("\n");
  expect(second.startsWith(first)).toBe(true);
  expect(second).not.toContain("Sell milk.");
  expect(setup.model.requests).toHaveLength(2);
  expect(lines.filter((line) => line.includes("session.next.synthetic"))).toHaveLength(1);
});

test("does not read an attachment that the rules do not allow, and creates no permission request", async () => {
  const setup = await setUp();
  setup.write(".env", "KEY=planted\n");
  setup.model.reply({ text: "No." });
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create({});
  const uri = pathToFileURL(`${setup.directory}/.env`).href;
  await host.sessions.prompt({ sessionID, prompt: { text: "Read it", files: [{ uri, name: ".env" }] } });
  await host.sessions.wait({ sessionID });
  const request = messageTexts(setup.model.requests[0]!.body).join("\n");
  expect(request).not.toContain("planted");
  expect(request).toContain("do not allow it without a question");
  await expect(host.permissions.list({ sessionID })).resolves.toEqual([]);
});

test("names an agent that a prompt mentions to the model", async () => {
  const setup = await setUp();
  setup.model.reply({ text: "Yes." });
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create({});
  await host.sessions.prompt({ sessionID, prompt: { text: "Look", agents: [{ name: "explore" }, { name: "plan" }] } });
  await host.sessions.wait({ sessionID });
  const request = messageTexts(setup.model.requests[0]!.body).join("\n");
  expect(request).toContain('mentions the agent "explore". Give it the work');
  expect(request).toContain('mentions the agent "plan", but no agent of that name takes tasks');
});
