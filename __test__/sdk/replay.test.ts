import { run, setUp } from "../embedded/support";
import { recorded, type Recorded, type ComparedAnswer } from "./recorded";
import { transports, type Transport } from "./support";

test.each(transports)("recorded requests have the recorded answers, %s", async (_, open) => {
  const setup = await setUp();
  const host = await setup.open();
  const transport = await open(host);
  const { id: session } = await host.sessions.create();
  const { id: other } = await host.sessions.create();
  const { id: message } = await run(host, session, "Hi");
  const { next: cursor } = await host.sessions.messages({ sessionID: session, limit: 1 });
  const { next: last } = await host.sessions.messages({ sessionID: session, order: "asc" });
  const { next: sessions } = await host.sessions.list({ limit: 1 });
  const known = { session, other, message, cursor, last, sessions, directory: setup.directory };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (all, name) => Object(known)[name] ?? all);

  const answers = [];
  for (const row of recorded) answers.push([row.request, await send(transport, row, fill)]);
  expect(answers).toEqual(recorded.map((row) => [row.request, expected(row)]));
});

function expected({ answer, here = { ...answer, why: "" } }: Recorded): ComparedAnswer {
  const { why: _, ...compared } = here;
  return compared;
}

async function send(
  { url, headers, fetch }: Transport,
  row: Recorded,
  fill: (text: string) => string,
): Promise<ComparedAnswer> {
  const [method, path] = row.request.split(" ") as [string, string];
  const text = typeof row.body === "string" ? row.body : JSON.stringify(row.body);
  // Bytes, because a text adds a content type.
  const body = text === undefined ? null : new TextEncoder().encode(fill(text));
  const init = { method, body, headers: { ...headers, ...row.headers } };
  const response = await fetch(new Request(url + fill(path), init));
  const { status } = response;
  if (response.headers.get("content-type") !== "application/json") return { status };
  const answer = await response.json();
  const { _tag: tag, kind, field, data } = answer;
  return clean({
    status,
    tag,
    kind,
    field,
    keys: keysOf(answer),
    data: data === undefined ? data : keysOf(first(data)),
  });
}

const keysOf = (value: unknown) => Object.keys(value ?? {}).sort();
const first = (value: unknown) => (Array.isArray(value) ? value[0] : value);

/** The object without undefined members. */
function clean(answer: object): ComparedAnswer {
  return JSON.parse(JSON.stringify(answer));
}
