import { finish, setUpClient, WAYS } from "../run/support";
import { readHistory, run, setUp, setUpSession } from "./support";
import type { SessionsPromptInput } from "../../index.js";

type Body = { model: string; tools?: { function: { name: string } }[]; messages: { content: unknown }[] };

/** The names of the offered tools. */
const toolsOf = ({ tools = [] }: Body) => tools.map((tool) => tool.function.name);

test("settings apply to the work on their prompt alone", async () => {
  const { host, model, sessionID } = await setUpSession();
  const settings = { system: "Answer in French.", tools: { "*": false, read: true }, agent: "plan" };
  await run(host, sessionID, "One", settings);
  await run(host, sessionID, "Two");
  const [first, second] = model.requests.map(({ body }) => body as Body);
  expect(toolsOf(first!)).toEqual(["read"]);
  expect(JSON.stringify(first!.messages)).toContain("Answer in French.");
  expect(toolsOf(second!)).toContain("bash");
  await expect(host.sessions.get({ sessionID })).resolves.not.toHaveProperty("agent");
});

test("settings are a part of the durable prompt, and survive an export and an import", async () => {
  const { setup, host, sessionID } = await setUpSession();
  const settings = { system: "Answer in French.", tools: { bash: false } };
  const model = { providerID: "mock", id: "m1" };
  await host.sessions.prompt({ sessionID, prompt: "Hi", resume: false, ...settings, model, variant: "high" });
  const admitted = (await readHistory(host, sessionID)).at(-1);
  expect(admitted).toMatchObject({
    data: { prompt: { text: "Hi", settings: { ...settings, model: { ...model, variant: "high" } } } },
  });
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toMatchObject([{ prompt: { settings } }]);
  const lines: string[] = [];
  for await (const line of host.sessions.export({ sessionID })) lines.push(line);
  const other = await setUp();
  const copy = await other.open();
  await copy.sessions.import(lines);
  // An import runs no prompt of another host.
  const withdrawn = expect.objectContaining({ type: "session.next.prompt.withdrawn" });
  expect(await readHistory(copy, sessionID)).toEqual([...(await readHistory(host, sessionID)), withdrawn]);
  expect(setup.model.requests).toEqual([]);
});

test("the exact retry of a prompt includes its settings", async () => {
  const { host, sessionID } = await setUpSession();
  const input = { sessionID, id: "msg_1", prompt: "Hi", resume: false, system: "Be brief." };
  const receipt = await host.sessions.prompt(input);
  await expect(host.sessions.prompt(input)).resolves.toEqual(receipt);
  await expect(host.sessions.prompt({ ...input, system: "Be long." })).rejects.toMatchObject({
    _tag: "ConflictError",
  });
});

const long = (length: number) => "a".repeat(length);
const many = Object.fromEntries(Array.from({ length: 1001 }, (_, number) => [`t${number}`, true]));
const schema = { type: "object" };
const nested = (levels: number): object => (levels === 0 ? {} : { not: nested(levels - 1) });

test.each<[string, object]>([
  ["system", { system: 1 }],
  ["system", { system: long(256 * 1024 + 1) }],
  ["tools", { tools: ["read"] }],
  ["tools", { tools: { read: "no" } }],
  ["tools", { tools: { "": true } }],
  ["tools", { tools: many }],
  ["agent", { agent: 1 }],
  ["agent", { agent: long(1025) }],
  ["model", { model: "mock/m1" }],
  ["model", { model: { providerID: "mock", id: long(1025) } }],
  ["variant", { variant: long(1025) }],
  ["output", { output: true }],
  ["output.schema", { output: { schema: {} } }],
  ["output.schema", { output: { schema: { type: "string" } } }],
  ["output.schema", { output: { schema: { ...schema, title: long(64 * 1024) } } }],
  ["output.schema", { output: { schema: { ...schema, not: nested(64) } } }],
  ["output.name", { output: { schema, name: "no name" } }],
  ["output.retries", { output: { schema, retries: 11 } }],
  ["output.retries", { output: { schema, retries: -1 } }],
  ["output.retries", { output: { schema, retries: 0.5 } }],
])("%s out of its limits is refused, case %#", async (field, wrong) => {
  const { host, sessionID } = await setUpSession();
  const input = { sessionID, prompt: "Hi", ...wrong } as SessionsPromptInput;
  const refused = await host.sessions.prompt(input).catch((error: unknown) => error);
  expect(refused).toMatchObject({ _tag: "InvalidRequestError" });
  const { field: named = "", message } = refused as { field?: string; message: string };
  const place = named === "" ? message.replaceAll('"]["', ".") : named;
  expect(place).toContain(field);
  await expect(host.sessions.inbox.list({ sessionID })).resolves.toEqual([]);
});

describe.each(WAYS)("a run %s", (way) => {
  test("passes its settings on", async () => {
    const { client, model } = await setUpClient(way);
    const { result } = await finish(client, { prompt: "Hi", system: "Be brief.", tools: { bash: false } });
    expect(result.outcome).toBe("completed");
    const body = model.requests[0]!.body as Body;
    expect(toolsOf(body)).not.toContain("bash");
    expect(JSON.stringify(body.messages)).toContain("Be brief.");
  });
});
