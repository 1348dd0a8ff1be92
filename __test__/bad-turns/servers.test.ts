// Servers that behave like well-known ones, with their quirks. Each answers fifteen prompts with tool calls, and refuses
// requests that are larger than its window.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { RunResult } from "../../index.js";
import { findDifferences } from "../embedded/bodies";
import { readMessages, setUp } from "../embedded/support";

const PROMPTS = 15;

/** A request of the host, as a server sees it. */
interface Asked {
  readonly nth: number;
  /** True if the last message is a result of a tool. */
  readonly isResult: boolean;
  readonly hasTools: boolean;
}

/** A server with its quirks. */
interface Quirks {
  readonly npm: string;
  /** The id of the provider. */
  readonly id: string;
  readonly model: string;
  /** The window that the server has, in tokens. It counts four bytes of a request as a token. */
  readonly window: number;
  /** `limit` of the model in the configuration. */
  readonly limit?: { context: number; output: number };
  /** The status and the body with which the server refuses a request of so many tokens. */
  refuse(size: number): readonly [number, unknown];
  /** The events of the answer. */
  answer(asked: Asked): readonly unknown[];
  /** The ends that runs may have. */
  readonly outcomes: readonly RunResult["outcome"][];
}

const chunk = (delta: unknown, finish: unknown = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const call = (id: unknown, name: string, args: unknown, more: object = {}) => ({
  tool_calls: [{ id, type: "function", function: { name, arguments: args }, ...more }],
});
const READ = JSON.stringify({ path: "a.txt" });

/** Ids of nine letters, which it also requires, parts instead of texts, no numbers of calls, arguments as objects. */
const mistral: Quirks = {
  npm: "@ai-sdk/mistral",
  id: "mistral",
  model: "devstral",
  window: 15_000,
  refuse: (size) => [
    400,
    {
      object: "error",
      message: `Prompt contains ${size} tokens and 0 draft tokens, too large for model with 15000 maximum context length`,
      type: "invalid_request_invalid_args",
      param: null,
      code: "3051",
    },
  ],
  answer: ({ nth, isResult, hasTools }) => {
    if (!hasTools) return [chunk({ role: "assistant", content: "Summary." }), chunk({ content: "" }, "stop")];
    if (isResult) {
      const thinking = [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }];
      return [
        chunk({ role: "assistant", content: thinking }),
        chunk({ content: [{ type: "text", text: "Done." }] }),
        chunk({ content: "" }, nth % 5 === 0 ? "model_length" : "stop", { usage: { prompt_tokens: 9 } }),
      ];
    }
    const args = nth % 4 === 0 ? { path: "a.txt" } : READ;
    return [chunk({ role: "assistant", content: "", ...call(`a${10_000_000 + nth}`, "read", args) }, "tool_calls")];
  },
  outcomes: ["completed", "incomplete"],
};

/** Empty ids, arguments that are no JSON, ends of calls called `stop`, no usage, comments between events. */
const llama: Quirks = {
  npm: "@ai-sdk/openai-compatible",
  id: "llama",
  model: "qwen3-coder",
  window: 15_000,
  refuse: (size) => [
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: size,
        n_ctx: 15_000,
      },
    },
  ],
  answer: ({ nth, isResult, hasTools }) => {
    if (!hasTools || isResult) return [": ping\n\n", chunk({ role: "assistant", content: "Done." }), chunk({}, "stop")];
    const args = ['{"path": "a.txt"', '\ufeff{"path": "a.txt"}', '```json\n{"path": "a.txt"}\n```', READ][nth % 4];
    return [chunk({ role: "assistant", content: null, ...call("", "read", args, { index: 0 }) }), chunk({}, "stop")];
  },
  outcomes: ["completed"],
};

/** Reasoning, null for whatever is absent, answers that end with `network_error`, refusals without a number. */
const zai: Quirks = {
  npm: "@ai-sdk/openai-compatible",
  id: "zai",
  model: "glm-4.6",
  window: 11_000,
  limit: { context: 20_000, output: 2_000 },
  refuse: () => [400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
  answer: ({ nth, isResult, hasTools }) => {
    const head = chunk({ role: "assistant", content: null, reasoning_content: "Hm.", tool_calls: null }, null, {
      usage: null,
      error: null,
    });
    if (!hasTools) return [head, chunk({ content: "Summary." }), chunk({ content: "" }, "stop")];
    if (!isResult) {
      return [head, chunk(call(`call_${nth}`, "read", READ, { index: 0 })), chunk({ content: "" }, "tool_calls")];
    }
    return nth % 7 === 0
      ? [head, chunk({ content: "Do" }), chunk({ content: "" }, "network_error")]
      : [head, chunk({ content: "Done." }), chunk({ content: "" }, "stop", { usage: { prompt_tokens: "12" } })];
  },
  outcomes: ["completed", "failed"],
};

const candidate = (parts: unknown, finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, finishReason }],
});

/** Calls without ids, signatures, parts without content, ends of calls called `STOP`, calls that it could not write. */
const gemini: Quirks = {
  npm: "@ai-sdk/google",
  id: "gemini",
  model: "m1",
  window: 15_000,
  refuse: (size) => [
    400,
    {
      error: {
        code: 400,
        message: `The input token count (${size}) exceeds the maximum number of tokens allowed (15000).`,
        status: "INVALID_ARGUMENT",
      },
    },
  ],
  answer: ({ nth, isResult, hasTools }) => {
    if (!hasTools || isResult)
      return [candidate([{ text: "" }]), candidate([{ text: "Done." }]), candidate([], "STOP")];
    if (nth % 6 === 0) return [{ candidates: [{ content: {}, finishReason: "MALFORMED_FUNCTION_CALL" }] }];
    const read = { functionCall: { name: "read", args: { path: "a.txt" } }, thoughtSignature: "c2ln" };
    const other = { functionCall: { name: "glob", args: { pattern: "*" } } };
    return [candidate([{ text: "Hm.", thought: true }]), candidate([read, other]), candidate([{ text: "" }], "STOP")];
  },
  outcomes: ["completed"],
};

/** An event without choices first, calls in pieces without names, `finish_reason` in each event, unknown tools. */
const copilot: Quirks = {
  npm: "@ai-sdk/openai-compatible",
  id: "copilot-like",
  model: "gpt-4.1",
  window: 11_000,
  refuse: (size) => [
    400,
    {
      error: {
        message: `prompt token count of ${size} exceeds the limit of 11000`,
        code: "model_max_prompt_tokens_exceeded",
      },
    },
  ],
  answer: ({ nth, isResult, hasTools }) => {
    const head = { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };
    const usage = { usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } };
    if (!hasTools || isResult) {
      return [head, chunk({ content: "Done." }, ""), chunk({ content: null }, "stop"), { choices: [], ...usage }];
    }
    const name = nth % 5 === 0 ? "read_file" : "read";
    const piece = (text: string) =>
      chunk({ tool_calls: [{ index: 0, id: "", function: { name: "", arguments: text } }] });
    return [
      head,
      chunk({ content: null, ...call(`toolu_${nth}`, name, "", { index: 0 }) }),
      ...READ.match(/.{1,5}/g)!.map(piece),
      chunk({}, "tool_calls"),
      { choices: [], ...usage },
    ];
  },
  outcomes: ["completed"],
};

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function readBody(request: IncomingMessage) {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function isResultLast(body: Record<string, any>) {
  const last = (body["messages"] ?? body["contents"]).at(-1);
  return last.role === "tool" || last.parts?.some((part: object) => "functionResponse" in part) === true;
}

/** The requests that a server has seen. */
interface Seen {
  answered: number;
  refused: number;
  problems: string[];
}

/** Starts a server. */
async function start(quirks: Quirks) {
  const seen: Seen = { answered: 0, refused: 0, problems: [] };
  const server = createServer((request, response) => void serve(quirks, seen, request, response));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

async function serve(quirks: Quirks, seen: Seen, request: IncomingMessage, response: ServerResponse) {
  const text = await readBody(request);
  const body = JSON.parse(text);
  seen.problems.push(...findDifferences(request.url ?? "", body));
  const ids = [...text.matchAll(/"(?:tool_call_id|id)":"([^"]*)"/g)];
  const isOdd = quirks.id === "mistral" && ids.some(([, id]) => !/^[a-zA-Z0-9]{9}$/.test(id ?? ""));
  if (isOdd) seen.problems.push(`a call has an id that is not of nine letters: ${text}`);
  const tokens = Math.ceil(text.length / 4);
  if (tokens > quirks.window) {
    seen.refused += 1;
    const [status, error] = quirks.refuse(tokens);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(error));
    return;
  }
  seen.answered += 1;
  const asked = { nth: seen.answered, isResult: isResultLast(body), hasTools: (body.tools ?? []).length > 0 };
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of quirks.answer(asked)) {
    response.write(typeof event === "string" ? event : `data: ${JSON.stringify(event)}\r\n\r\n`);
  }
  response.end(quirks.npm === "@ai-sdk/google" ? "" : "data: [DONE]\r\n\r\n");
}

test.each([mistral, llama, zai, gemini, copilot])(
  "$id: every run ends truly, and the session goes on",
  async (quirks) => {
    const { seen, url } = await start(quirks);
    const setup = await setUp();
    setup.write("a.txt", "A line of a file that is read again and again.\n".repeat(60));
    const model = { name: "Model", tool_call: true, ...(quirks.limit && { limit: quirks.limit }) };
    const provider = { npm: quirks.npm, options: { baseURL: url, apiKey: "key" }, models: { [quirks.model]: model } };
    const config = { model: `${quirks.id}/${quirks.model}`, provider: { [quirks.id]: provider } };
    const host = await setup.open({ config, retry: { maxAttempts: 3, maxDelayMs: 1 } });
    const { id: sessionID } = await host.sessions.create({});
    const ends: RunResult[] = [];
    for (let nth = 1; nth <= PROMPTS; nth += 1) {
      ends.push(await host.sessions.run({ sessionID, prompt: { text: `Read a.txt, part ${nth}` } }).result);
    }
    const messages = await readMessages(host, sessionID);
    expect(seen.problems).toEqual([]);
    // A run that did not complete says why, and those behind it complete again.
    const odd = ends.filter(({ outcome }) => !quirks.outcomes.includes(outcome));
    expect(odd).toEqual([]);
    expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(quirks.outcomes));
    for (const { outcome, error, finish } of ends) {
      if (outcome === "failed") expect(error?.message).toContain("network_error");
      if (outcome === "incomplete") expect(finish).toBe("length");
    }
    expect({ refused: seen.refused > 0, compacted: messages.some(({ type }) => type === "compaction") }).toEqual({
      refused: true,
      compacted: true,
    });
    expect(seen.answered).toBeGreaterThanOrEqual(2 * PROMPTS);
    const calls = messages.flatMap((message) => (message.type === "assistant" ? message.content : []));
    const open = calls.filter((part) => part.type === "tool" && !/completed|error/.test(part.state.status));
    expect(open).toEqual([]);
  },
);
