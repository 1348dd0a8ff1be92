import { z } from "zod";
import { finish, setUpClient, WAYS } from "./support";
import type { OpenCodeClient, RunOutput } from "../../index.js";

/** Scripts an answer that gives the output by a call. */
const gives = (input: object) => ({ tools: [{ name: "structured_output", input }] });

const jsonSchema = {
  type: "object",
  properties: { count: { type: "integer" } },
  required: ["count"],
  additionalProperties: false,
} as const;

async function resultOf<const Output extends RunOutput>(client: OpenCodeClient, output: Output) {
  return client.sessions.run({ prompt: "How many?", output }).result;
}

describe.each(WAYS)("a run with an output %s", (way) => {
  test("has the value of a JSON Schema, also in its message", async () => {
    const { client, model } = await setUpClient(way);
    model.reply(gives({ count: 0.5 }), { text: "Three." }, gives({ count: 3 }));
    const result = await resultOf(client, { schema: jsonSchema, retries: 2 });
    expect(result).toMatchObject({ outcome: "completed", output: { count: 3 } });
    expect(result.messages.at(-1)).toMatchObject({ type: "assistant", output: { count: 3 } });
    expect(model.requests).toHaveLength(3);
  });

  test("fails after all attempts, with a typed reason", async () => {
    const { client, model } = await setUpClient(way);
    model.reply({ text: "Three." });
    const { result } = await finish(client, { prompt: "How many?", output: { schema: jsonSchema, retries: 0 } });
    expect(result).toMatchObject({ outcome: "failed", error: { cause: { kind: "invalid-output" } } });
    expect(result).not.toHaveProperty("output");
  });
});

test("a library gives the type of the value", async () => {
  const { client, model } = await setUpClient("in memory");
  model.reply(gives({ count: 3, unit: "km" }));
  const input = z.object({ count: z.number().int().positive(), unit: z.string() });
  const { output } = await resultOf(client, input);
  const count: number | undefined = output?.count;
  expect([count, output]).toEqual([3, { count: 3, unit: "km" }]);
});

test("a library may refuse a value that its JSON Schema accepts", async () => {
  const { client, model } = await setUpClient("in memory");
  model.reply(gives({ count: 3 }));
  const odd = z.object({ count: z.number().refine((count) => count % 2 === 0, "must be even") });
  await expect(resultOf(client, odd)).resolves.toMatchObject({
    outcome: "failed",
    reason: expect.stringContaining("count: must be even"),
    error: { cause: { kind: "invalid-output" } },
  });
});

test.each([1, {}, { schema: { type: "string" } }, { schema: 1 }, z.string()])(
  "a wrong output is refused, case %#",
  async (output) => {
    const { client } = await setUpClient("in memory");
    const run = client.sessions.run({ prompt: "Hi", output: output as unknown as RunOutput });
    await expect(run.result).rejects.toMatchObject({ _tag: "InvalidRequestError", field: "output" });
  },
);
