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

test("expands mentions in the text, and leaves the prompt as it is", async () => {
  const setup = await setUp();
  setup.write("notes.md", "one\nBuy milk.\nthree\n");
  setup.model.reply({ text: "Noted." }, { text: "Plain." });
  const host = await setup.open();
  const { id: sessionID } = await host.sessions.create({});
  const text = "Do @notes.md#L2, not me@notes.md or @missing.md";
  const receipt = await host.sessions.prompt({ sessionID, prompt: { text } });
  await host.sessions.wait({ sessionID });
  expect(receipt.prompt).toEqual({ text });
  const [told = "", prompted = ""] = messageTexts(setup.model.requests[0]!.body).slice(1);
  expect(told).toContain("\nBuy milk.\n");
  expect(told).not.toMatch(/one|three|missing/);
  expect(prompted).toBe(`user: ${text}`);

  await host.sessions.prompt({ sessionID, prompt: { text: "Say @notes.md" }, mentions: false });
  await host.sessions.wait({ sessionID });
  const messages = await host.sessions.context({ sessionID });
  expect(messages.map(({ type }) => type)).toEqual(["synthetic", "user", "assistant", "user", "assistant"]);
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.7\n").toString("base64");

test.each(["@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic"])(
  "sends images and documents of files to a model of %s that reads them, and a note to another one",
  async (npm) => {
    const setup = await setUp();
    setup.write("dot.png", Buffer.from(PNG, "base64"));
    setup.write("paper.pdf", "%PDF-1.7\n");
    setup.model.reply({ text: "Seen." }, { text: "Not seen." });
    const config = setup.model.config({}, npm);
    const { m1 } = config.provider.mock.models;
    const reading = (...input: string[]) => ({ ...m1, modalities: { input, output: ["text"] } });
    const models = { m1: reading("text", "image", "pdf"), m2: reading("text") };
    const mock = { ...config.provider.mock, models };
    const host = await setup.open({ config: { ...config, provider: { mock } } });
    const { id: sessionID } = await host.sessions.create({});
    const files = [{ uri: pathToFileURL(`${setup.directory}/dot.png`).href }];
    await host.sessions.prompt({ sessionID, prompt: { text: "Compare with @paper.pdf", files } });
    await host.sessions.wait({ sessionID });
    await host.sessions.switchModel({ sessionID, model: { providerID: "mock", id: "m2" } });
    await host.sessions.prompt({ sessionID, prompt: { text: "And now?" } });
    await host.sessions.wait({ sessionID });
    const [seen = "", note = ""] = setup.model.requests.map(({ body }) => JSON.stringify(body));
    expect(seen).toContain(PNG);
    expect(seen).toContain(PDF);
    expect(seen).not.toContain("cannot be read by this model");
    expect(note).not.toContain(PNG);
    expect(note).toMatch(/dot\.png.{1,5}image\/png.{1,5}cannot be read by this model/);
    expect(note).toMatch(/paper\.pdf.{1,5}application\/pdf.{1,5}cannot be read by this model/);
  },
);
