import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readHistory, setUp } from "./support";

// Files that models return, which the host stores as Managed Tool Output Files.

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

const frame = (parts: object[], finishReason?: string) =>
  `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts }, finishReason }] })}\n\n`;

const file = (data: string) => ({ inlineData: { mimeType: "image/png", data } });

async function ask(answer: object[]) {
  const setup = await setUp();
  setup.model.reply({ raw: frame([{ text: "Here." }, ...answer]) + frame([], "STOP") }, { text: "Thanks." });
  const dataDirectory = path.join(setup.root, "data");
  const host = await setup.open({ dataDirectory, config: setup.model.config({}, "@ai-sdk/google") });
  const { id: sessionID } = await host.sessions.create({});
  for (const text of ["Draw a dot", "Thanks"]) {
    await host.sessions.prompt({ sessionID, prompt: { text } });
    await host.sessions.wait({ sessionID });
  }
  const { items } = await host.sessions.messages({ sessionID, order: "asc" });
  const message = items.find((it) => it.type === "assistant");
  const content = message?.type === "assistant" ? message.content : [];
  return { setup, host, sessionID, dataDirectory, content };
}

test("an image of Gemini is a stored file of its session", async () => {
  const { setup, host, sessionID, dataDirectory, content } = await ask([file(PNG)]);
  expect(content.map(({ type }) => type)).toEqual(["text", "tool"]);
  const [, tool] = content;
  if (tool?.type !== "tool" || tool.state.status !== "completed") throw new Error("there is no file");
  expect(tool.name).toBe("generated_file");
  const [stored] = tool.state.content;
  if (stored?.type !== "file") throw new Error("there is no file");
  expect(stored.mime).toBe("image/png");
  const place = fileURLToPath(stored.uri);
  expect(path.dirname(place)).toBe(path.join(dataDirectory, "tool-output"));
  expect(path.extname(place)).toBe(".png");
  expect(readFileSync(place).toString("base64")).toBe(PNG);
  // Neither the log nor the next request contains the bytes.
  const events = await readHistory(host, sessionID);
  expect(JSON.stringify(events)).not.toContain(PNG);
  const success = events.find(({ type }) => type === "session.next.tool.success");
  // The host deletes these files when the session is removed.
  expect(success?.data).toMatchObject({ outputPaths: [place] });
  expect(setup.model.requests).toHaveLength(2);
  expect(JSON.stringify(setup.model.requests[1]?.body)).not.toContain(PNG);
});

test("a file that is no Base64 becomes a text, and a draft among the thoughts is left out", async () => {
  const { content } = await ask([file("not Base64!"), { ...file(PNG), thought: true }]);
  const tools = content.filter(({ type }) => type === "tool");
  expect(tools).toHaveLength(1);
  expect(JSON.stringify(tools)).toContain("could not be stored");
});
