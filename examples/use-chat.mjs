// The server of a chat page with `useChat` of the AI SDK. Reloading the page continues the answer:
//
//   OPENAI_API_KEY=... node examples/use-chat.mjs
//
// docs/use-chat.md has the page. A handler takes a Request and returns a Response, so it fits most frameworks.

import { createServer } from "node:http";
import { Readable } from "node:stream";
import { OpenCode } from "opencode-embedded";
import { toUIMessages, toUIMessageStream } from "opencode-embedded/ai-sdk";
import { options } from "./config.cjs";

const opencode = await OpenCode.create(options);

/** `GET /chat/:sessionID`: the messages of the page up to the last prompt. The stream has its answer, finished or not. */
async function list(sessionID) {
  const { items } = await opencode.sessions.messages({ sessionID, order: "asc", limit: 200 });
  const last = items.findLastIndex(({ type }) => type === "user");
  return Response.json(toUIMessages(items.slice(0, last + 1)));
}

/** `POST /chat`: answers the last message of the page. */
async function answer(request) {
  const { id: sessionID, messages } = await request.json();
  await opencode.sessions.get({ sessionID });
  const { id, parts } = messages.at(-1);
  const prompt = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return stream(opencode.sessions.run({ sessionID, id: `msg_${id}`, prompt, unanswered: "wait" }));
}

/** `GET /chat/:sessionID/stream`: the answer to the last prompt from its beginning. It starts no work. */
async function resume(sessionID) {
  const { items } = await opencode.sessions.messages({ sessionID, limit: 200 });
  const prompt = items.find(({ type }) => type === "user");
  if (prompt === undefined) return new Response(null, { status: 204 });
  return stream(opencode.sessions.run({ sessionID, id: prompt.id, prompt: prompt.text, unanswered: "wait" }));
}

/** The same as `createUIMessageStreamResponse` of the AI SDK, which a server does not need. */
function stream(run) {
  const events = toUIMessageStream(run).pipeThrough(
    new TransformStream({
      transform: (chunk, controller) => controller.enqueue(`data: ${JSON.stringify(chunk)}\n\n`),
      flush: (controller) => controller.enqueue("data: [DONE]\n\n"),
    }),
  );
  const headers = { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1" };
  return new Response(events.pipeThrough(new TextEncoderStream()), { headers });
}

async function handle(request) {
  const [, chat, sessionID = "", action] = new URL(request.url).pathname.split("/");
  if (chat !== "chat") return new Response(null, { status: 404 });
  if (request.method === "PUT") return Response.json(await opencode.sessions.create());
  if (request.method === "POST") return answer(request);
  return action === "stream" ? resume(sessionID) : list(sessionID);
}

/** Returns the response to every request. Only failures of the host are errors of the server. */
async function respond(incoming) {
  const { method, url } = incoming;
  try {
    const body = method === "POST" ? await new Response(Readable.toWeb(incoming)).text() : undefined;
    return await handle(new Request(new URL(url, "http://127.0.0.1"), { method, body }));
  } catch (error) {
    const { _tag: tag = "InvalidRequestError", message } = error;
    const status = tag.endsWith("NotFoundError") ? 404 : tag === "InvalidRequestError" ? 400 : 500;
    return Response.json({ message }, { status });
  }
}

const server = createServer(async (incoming, outgoing) => {
  const response = await respond(incoming);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return outgoing.end();
  // A page that is closed ends its stream. The answer goes on.
  Readable.fromWeb(response.body)
    .on("error", () => outgoing.destroy())
    .pipe(outgoing);
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/chat`);
});
