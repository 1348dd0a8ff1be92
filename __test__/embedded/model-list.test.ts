import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { OpenCode } from "../../index.js";
import { readUntil, setUp, subscribe } from "./support";

// The option `refreshModels`, with a server of lists on loopback.

async function listServer(list: object) {
  const paths: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    paths.push(request.url);
    response.setHeader("content-type", "application/json").end(JSON.stringify(list));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, paths, [Symbol.asyncDispose]: async () => void server.close() };
}

const LIMIT = { context: 1000, output: 100 };
const LIST = {
  listed: {
    id: "listed",
    name: "Listed",
    npm: "@ai-sdk/openai-compatible",
    api: "http://127.0.0.1:1/v1",
    env: ["LISTED_API_KEY"],
    models: { fresh: { name: "Fresh", tool_call: true, limit: LIMIT } },
  },
};

test("a downloaded list gives a host its models, and later hosts read it from the cache", async () => {
  const setup = await setUp();
  await using server = await listServer(LIST);
  const cacheDirectory = path.join(setup.root, "cache");
  const env = { LISTED_API_KEY: "key", OPENCODE_MODELS_URL: server.url };
  const host = await setup.open({ config: {}, cacheDirectory, env, refreshModels: true });
  const live = await subscribe(host);
  const ids = async () => (await host.models.list()).data.map(({ id }) => id);
  // The list may be there before the subscription.
  if (!(await ids()).includes("fresh")) await readUntil(live, "models-dev.refreshed");
  expect(await ids()).toEqual(["fresh"]);
  expect(server.paths).toEqual(["/api.json"]);
  await host.close();
  const again = await setup.open({ config: {}, cacheDirectory, env, refreshModels: true });
  expect((await again.models.list()).data.map(({ id }) => id)).toEqual(["fresh"]);
  await again.close();
  // It is younger than five minutes.
  expect(server.paths).toHaveLength(1);
});

test("no list is downloaded without the option, or if a variable forbids it", async () => {
  const setup = await setUp();
  await using server = await listServer(LIST);
  const cacheDirectory = path.join(setup.root, "cache");
  const env = { LISTED_API_KEY: "key", OPENCODE_MODELS_URL: server.url };
  for (const options of [{ env }, { env: { ...env, OPENCODE_DISABLE_MODELS_FETCH: "1" }, refreshModels: true }]) {
    const host = await setup.open({ config: {}, cacheDirectory, ...options });
    expect((await host.models.list()).data).toEqual([]);
    await host.close();
  }
  expect(server.paths).toEqual([]);
  expect(existsSync(cacheDirectory) ? readdirSync(cacheDirectory) : []).toEqual([]);
});

test("refreshModels is a boolean", async () => {
  const opened = OpenCode.create({ refreshModels: "yes" as never });
  await expect(opened).rejects.toMatchObject({ _tag: "InvalidOptionError", option: "refreshModels" });
});
