// Schemas of tools: the libraries, and the schemas that are refused at registration.

import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { jsonSchema as aiSchema, zodSchema } from "@ai-sdk/provider-utils";
import { type as ark } from "arktype";
import * as valibot from "valibot";
import { z } from "zod";
import { isInvalidOptionError } from "../../index.js";
import { callTools, failure, readCalls, setUpSession } from "./support";

const NAME = { name: "weather", description: "Returns the weather of a city." };

const call = (input: object, id = "call_1") => ({ name: "weather", input, id });

const PROPERTIES = { city: { type: "string" } };

test.each([
  ["zod", z.object({ city: z.string() })],
  ["valibot", toStandardJsonSchema(valibot.object({ city: valibot.string() }))],
  ["arktype", ark({ city: "string" })],
  ["the AI SDK with zod", zodSchema(z.object({ city: z.string() }))],
  [
    "the AI SDK",
    aiSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  ],
])("a schema of %s is sent to the model and checks the arguments", async (_, input) => {
  const started = await setUpSession();
  const inputs: unknown[] = [];
  started.host.tools.register({ ...NAME, input, execute: (given) => (inputs.push(given), "Rain") });
  const [valid, invalid] = await callTools(started, call({ city: "Oslo" }), call({ city: 5 }, "call_2"));
  expect(valid).toBe("Rain");
  expect(failure(invalid)).toMatch(/^Invalid tool input: /);
  expect(inputs).toEqual([{ city: "Oslo" }]);
  const { body } = await started.model.received(1);
  const { parameters } = body.tools.at(-1).function;
  expect(parameters).toMatchObject({ type: "object", properties: PROPERTIES, required: ["city"] });
  expect(parameters).not.toHaveProperty("$schema");
});

test("the function receives the output of the input schema, and its type", async () => {
  const started = await setUpSession();
  const days: Date[] = [];
  started.host.tools.register({
    ...NAME,
    input: z.object({ day: z.string().transform((text) => new Date(text)), count: z.number().default(3) }),
    execute({ day, count }) {
      days.push(day);
      return count.toFixed(1);
    },
  });
  expect(await callTools(started, call({ day: "2026-01-02" }))).toEqual(["3.0"]);
  expect(days.map((day) => day.toISOString())).toEqual(["2026-01-02T00:00:00.000Z"]);
});

test("an argument that the schema refuses and that has one meaning is converted", async () => {
  const started = await setUpSession();
  const inputs: unknown[] = [];
  const input = z.object({
    count: z.number(),
    code: z.string(),
    only: z.boolean().optional(),
    none: z.string().nullable(),
    names: z.array(z.string()),
    limit: z.number().optional(),
  });
  started.host.tools.register({ ...NAME, input, execute: (given) => (inputs.push(given), "") });
  const given = { count: "2", code: "2", only: "true", none: null, names: "a", limit: null };
  await callTools(started, call(given));
  expect(inputs).toEqual([{ count: 2, code: "2", only: true, none: null, names: ["a"] }]);
});

test("issues name their place", async () => {
  const started = await setUpSession();
  const input = z.object({ days: z.array(z.object({ hour: z.number() })) });
  started.host.tools.register({ ...NAME, input, execute: () => "" });
  const [result] = await callTools(started, call({ days: [{ hour: 1 }, { hour: "two" }] }));
  expect(failure(result)).toMatch(/^Invalid tool input: days\.1\.hour: /);
});

test("an output schema checks and converts the result", async () => {
  const started = await setUpSession();
  const results: unknown[] = [{ celsius: 5, more: true }, { celsius: "cold" }];
  started.host.tools.register({
    ...NAME,
    input: z.object({}),
    output: z.object({ celsius: z.number(), unit: z.string().default("C") }),
    execute: () => results.shift() as { celsius: number },
  });
  expect(await callTools(started, call({}))).toEqual(['{"celsius":5,"unit":"C"}']);
  const [invalid] = await callTools(started, call({}));
  expect(failure(invalid)).toMatch(/^Tool returned an invalid value for its output schema: celsius: /);
  const [first] = await readCalls(started.host, started.sessionID);
  expect(first?.state).toMatchObject({ structured: { celsius: 5, unit: "C" } });
});

test("an output JSON Schema is checked, too", async () => {
  const started = await setUpSession();
  const output = { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] } as const;
  const results: unknown[] = [{ celsius: 5 }, {}];
  started.host.tools.register({ ...NAME, input: { type: "object" }, output, execute: () => results.shift() as never });
  expect(await callTools(started, call({}))).toEqual(['{"celsius":5}']);
  const [invalid] = await callTools(started, call({}));
  expect(failure(invalid)).toContain('Missing key\n  at ["celsius"]');
});

const GOOD = { ...NAME, input: { type: "object" }, execute: () => "" };

test.each<[string, unknown, string, string]>([
  ["no definition", undefined, "tool", "takes the definition of a tool, got undefined"],
  ["an array", [], "tool", "got an array"],
  ["no name", { ...GOOD, name: undefined }, "name", "is missing"],
  ["an empty name", { ...GOOD, name: "" }, "name", "non-empty"],
  ["a name that no provider accepts", { ...GOOD, name: "my tool" }, "name", "Invalid tool name: my tool"],
  ["a long name", { ...GOOD, name: "x".repeat(65) }, "name", "at most 64 characters"],
  ["no description", { ...GOOD, description: 5 }, "description", "non-empty string, got 5"],
  ["no input", { ...GOOD, input: undefined }, "input", "is missing"],
  ["an input that is no schema", { ...GOOD, input: { city: "string" } }, "input", "must be a schema of a library"],
  ["an input of another type", { ...GOOD, input: z.string() }, "input", 'needs the type "object"'],
  ["an input without a JSON Schema", { ...GOOD, input: valibot.object({}) }, "input", "has no JSON Schema"],
  ["an input that JSON Schema cannot express", { ...GOOD, input: z.object({ a: z.bigint() }) }, "input", "zod failed"],
  ["another version of the standard", { ...GOOD, input: { "~standard": { version: 2 } } }, "input", "version 1"],
  ["an output that is no schema", { ...GOOD, output: "text" }, "output", "must be a schema of a library"],
  ["no function", { ...GOOD, execute: "run" }, "execute", 'must be a function, got "run"'],
  ["an unknown member", { ...GOOD, excute: () => "" }, "excute", 'Did you mean "execute"?'],
  ["a wrong permission", { ...GOOD, permission: "ask" }, "permission", "must be an object"],
  ["wrong resources", { ...GOOD, permission: { resources: ["a"] } }, "permission.resources", "must be a function"],
  ["a wrong action", { ...GOOD, permission: { action: 5 } }, "permission.action", "got 5"],
  ["a wrong list", { ...GOOD, permission: { save: "*" } }, "permission.save", "must be an array"],
  ["no time", { ...GOOD, timeoutMs: 0 }, "timeoutMs", "whole number from 1 on, got 0"],
  ["too much time", { ...GOOD, timeoutMs: 2 ** 31 }, "timeoutMs", "at most 2147483647"],
])("refuses %s at once", async (_, definition, option, message) => {
  const { host } = await setUpSession();
  let error: unknown;
  try {
    host.tools.register(definition as never);
  } catch (thrown) {
    error = thrown;
  }
  expect(isInvalidOptionError(error) && error).toMatchObject({ option, message: expect.stringContaining(message) });
});

test.each([
  [{ location: "here" }, "location"],
  [{ location: { directory: 5 } }, "location.directory"],
  [{ location: { directory: "relative" } }, "location.directory"],
  [{ loction: {} }, "loction"],
])("refuses the options %j", async (options, option) => {
  const { host } = await setUpSession();
  expect(() => host.tools.register(GOOD as never, options as never)).toThrow(expect.objectContaining({ option }));
});
