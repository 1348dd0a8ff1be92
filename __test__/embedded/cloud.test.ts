import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setUp } from "./support";
import type { Setup } from "./support";

// Credentials of the machine for Bedrock and Vertex: shared files, and services that answer on loopback.

const ANSWERS = { text: "Hello." };

/** A service of credentials that gives every request the same answer. */
async function service(answer: object) {
  const seen: http.IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, seen, [Symbol.asyncDispose]: async () => void server.close() };
}

async function run(setup: Setup, npm: string, options: object, env: Record<string, string>, prompts: number) {
  setup.model.reply(...Array.from({ length: prompts }, () => ANSWERS));
  const config = setup.model.config({}, npm);
  config.provider.mock.options = { baseURL: setup.model.url, ...options } as never;
  const host = await setup.open({ config, env });
  const { id: sessionID } = await host.sessions.create({});
  for (let prompt = 0; prompt < prompts; prompt++) {
    await host.sessions.prompt({ sessionID, prompt: { text: "Hi" } });
    await host.sessions.wait({ sessionID });
  }
  const { items } = await host.sessions.messages({ sessionID });
  const finished = items.filter((it) => it.type === "assistant" && it.finish === "stop");
  return { finished: finished.length, items, requests: setup.model.requests };
}

test("a profile of the shared file signs requests to Bedrock", async () => {
  const setup = await setUp();
  const keys = "aws_access_key_id = AKWORK\naws_secret_access_key = secret-of-work\n";
  setup.write("credentials", `[work]\n${keys}`);
  const env = { AWS_SHARED_CREDENTIALS_FILE: path.join(setup.directory, "credentials") };
  const options = { region: "eu-west-1", profile: "work" };
  const { finished, requests } = await run(setup, "@ai-sdk/amazon-bedrock", options, env, 1);
  expect(finished).toBe(1);
  const scope = /^AWS4-HMAC-SHA256 Credential=AKWORK\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=/;
  expect(requests[0]?.headers.authorization).toMatch(scope);
});

test("a container gives the keys for Bedrock once", async () => {
  const setup = await setUp();
  const keys = {
    AccessKeyId: "AKCONTAINER",
    SecretAccessKey: "s",
    Token: "token-4711",
    Expiration: "2999-01-01T00:00:00Z",
  };
  await using container = await service(keys);
  const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://${container.host}/keys` };
  const { finished, requests } = await run(setup, "@ai-sdk/amazon-bedrock", {}, env, 2);
  expect(finished).toBe(2);
  expect(requests[1]?.headers.authorization).toContain("Credential=AKCONTAINER/");
  expect(requests[1]?.headers["x-amz-security-token"]).toBe("token-4711");
  expect(container.seen).toHaveLength(1);
});

test("a machine without credentials for Bedrock fails with advice", async () => {
  const setup = await setUp();
  const env = { AWS_EC2_METADATA_DISABLED: "true" };
  const { finished, items, requests } = await run(setup, "@ai-sdk/amazon-bedrock", {}, env, 1);
  expect(finished).toBe(0);
  expect(requests).toHaveLength(0);
  expect(items.find((it) => it.type === "assistant")).toMatchObject({
    error: { message: expect.stringContaining("AWS_ACCESS_KEY_ID") },
  });
});

test.each(["@ai-sdk/google-vertex", "@ai-sdk/google-vertex/anthropic"])(
  "%s: a token of the machine authorises all requests",
  async (npm) => {
    const setup = await setUp();
    await using metadata = await service({ access_token: "token-4711", expires_in: 3600, token_type: "Bearer" });
    const env = { GCE_METADATA_HOST: metadata.host };
    const { finished, requests } = await run(setup, npm, { project: "p-1" }, env, 2);
    expect(finished).toBe(2);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer token-4711", "Bearer token-4711"]);
    expect(metadata.seen).toHaveLength(1);
    expect(metadata.seen[0]?.headers["metadata-flavor"]).toBe("Google");
  },
);

test("Anthropic at Vertex names the model in the address and the version in the body", async () => {
  const setup = await setUp();
  const options = { project: "p-1", authToken: "token-4711" };
  const { requests } = await run(setup, "@ai-sdk/google-vertex/anthropic", options, {}, 1);
  const [request] = requests;
  expect(request?.path).toBe("/v1/models/m1:streamRawPredict");
  expect(request?.headers.authorization).toBe("Bearer token-4711");
  expect(request?.headers["anthropic-version"]).toBeUndefined();
  expect(request?.headers["anthropic-beta"]).toBe("interleaved-thinking-2025-05-14");
  expect(request?.body).toMatchObject({ anthropic_version: "vertex-2023-10-16", stream: true, max_tokens: 8000 });
  expect(request?.body).not.toHaveProperty("model");
});
