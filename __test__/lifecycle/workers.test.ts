import { setUp } from "../embedded/support";
import { Child } from "./child";

test("workers may end with open hosts, streams and turns", async () => {
  const setup = await setUp();
  const child = new Child("workers", { options: setup.options(), folder: setup.root, workers: 12 });
  const { results } = await child.printed("ended");
  expect(results).toHaveLength(12);
  for (const { end, admitted, last } of results) {
    expect(admitted).toBe(1);
    // A worker without further work stays alive until its session has settled, as a process does.
    if (end === "return") expect(last).toBe("session.next.step.ended");
  }
  await expect(child.exited).resolves.toBe(0);
  expect(child.errors).toBe("");
});

test("the tools and hooks of a worker belong to its own host", async () => {
  const setup = await setUp();
  const call = { tools: [{ name: "who", input: {} }] };
  for (let worker = 0; worker < 6; worker += 1) setup.model.reply(call, { text: "Done." });
  const child = new Child("worker-tools", { options: setup.options(), folder: setup.root, workers: 6 });
  const { results } = await child.printed("ended");
  results.forEach((result: { results: string[]; isOwnHook: boolean; hooks: number }, number: number) => {
    expect(result).toMatchObject({ isOwnHook: true, hooks: 1 });
    expect(result.results).toEqual([expect.stringContaining(`worker ${number}`)]);
  });
  await expect(child.exited).resolves.toBe(0);
});
