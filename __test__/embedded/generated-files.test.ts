import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readHistory, run, setUp } from "./support";
import type { LanguageModelRequest } from "../../index.js";

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
  const next = JSON.stringify(setup.model.requests[1]?.body);
  expect(next).not.toContain(PNG);
  // Tools of the model can use the file.
  expect(next).toContain(`The host stored these files of the answer above:\\n${place}`);
});

test("an image of OpenAI Responses is a stored file of its call", async () => {
  const setup = await setUp();
  const item = { type: "image_generation_call", id: "ig_1", status: "completed", output_format: "webp", result: PNG };
  const events = [
    { type: "response.output_item.added", item: { ...item, status: "in_progress", result: null } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage: { input_tokens: 1, output_tokens: 1 } } },
  ];
  const raw = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  setup.model.reply({ raw }, { text: "Thanks." });
  const host = await setup.open({ config: setup.model.config({}, "@ai-sdk/openai") });
  const { id: sessionID } = await host.sessions.create({});
  await run(host, sessionID, "Draw a dot");
  const [answer] = (await host.sessions.messages({ sessionID, limit: 1 })).items;
  const [tool] = answer?.type === "assistant" ? answer.content : [];
  if (tool?.type !== "tool" || tool.state.status !== "completed") throw new Error("there is no file");
  expect(tool.name).toBe("image_generation");
  const [stored] = tool.state.content;
  if (stored?.type !== "file") throw new Error("there is no file");
  expect(path.extname(fileURLToPath(stored.uri))).toBe(".webp");
  expect(readFileSync(fileURLToPath(stored.uri)).toString("base64")).toBe(PNG);
  expect(JSON.stringify(await readHistory(host, sessionID))).not.toContain(PNG);
});

test("a file of a model of the program is stored, and later requests contain its path", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: {} });
  const requests: LanguageModelRequest[] = [];
  host.providers.register({
    id: "own",
    models: { painter: {} },
    async *stream(request) {
      requests.push(request);
      yield { type: "text-delta", text: "Here." };
      if (requests.length === 1) yield { type: "file", mediaType: "image/png", data: PNG };
      yield { type: "finish", reason: "stop" };
    },
  });
  const model = { providerID: "own", id: "painter" };
  const { id: sessionID } = await host.sessions.create({ model });
  await run(host, sessionID, "Draw a dot");
  const [answer] = (await host.sessions.messages({ sessionID, limit: 1 })).items;
  expect(answer).toMatchObject({
    content: [
      { type: "text", text: "Here." },
      { type: "tool", name: "generated_file", state: { content: [{ type: "file", mime: "image/png" }] } },
    ],
  });
  await run(host, sessionID, "Thanks");
  expect(requests[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user", "user"]);
  const next = JSON.stringify(requests[1]);
  expect(next).not.toContain("generated_file");
  expect(next).toContain("The host stored these files of the answer above:");
});

test("a file that only has an address keeps it, and later requests contain it", async () => {
  const setup = await setUp();
  const host = await setup.open({ config: {} });
  const requests: LanguageModelRequest[] = [];
  const url = "https://a.test/dot.png";
  host.providers.register({
    id: "own",
    models: { painter: {} },
    async *stream(request) {
      requests.push(request);
      if (requests.length === 1) yield { type: "file", mediaType: "image/png", url };
      else yield { type: "text-delta", text: "Done." };
      yield { type: "finish", reason: "stop" };
    },
  });
  const { id: sessionID } = await host.sessions.create({ model: { providerID: "own", id: "painter" } });
  await run(host, sessionID, "Draw a dot");
  const [answer] = (await host.sessions.messages({ sessionID, limit: 1 })).items;
  const content = [{ type: "file", mime: "image/png", uri: url }];
  expect(answer).toMatchObject({ content: [{ type: "tool", name: "generated_file", state: { content } }] });
  await run(host, sessionID, "Thanks");
  expect(JSON.stringify(requests[1])).toContain(`The answer above has files at these addresses:\\n${url}`);
});

test("a stored image can be attached to the next prompt, so that the model changes it", async () => {
  const { setup, host, sessionID, content } = await ask([file(PNG)]);
  const tool = content.find((part) => part.type === "tool");
  const [stored] = tool?.type === "tool" && tool.state.status === "completed" ? tool.state.content : [];
  if (stored?.type !== "file") throw new Error("there is no file");
  setup.model.reply({ text: "Blue." });
  const prompt = { text: "Make it blue", files: [{ uri: stored.uri }] };
  await host.sessions.prompt({ sessionID, prompt });
  await host.sessions.wait({ sessionID });
  const parts = setup.model.requests.at(-1)?.body.contents.flatMap((it: { parts: object[] }) => it.parts);
  expect(parts).toContainEqual({ inlineData: { mimeType: "image/png", data: PNG } });
});

test("a file that is no Base64 becomes a text, and a draft among the thoughts is left out", async () => {
  const { content } = await ask([file("not Base64!"), { ...file(PNG), thought: true }]);
  const tools = content.filter(({ type }) => type === "tool");
  expect(tools).toHaveLength(1);
  expect(JSON.stringify(tools)).toContain("could not be stored");
});
