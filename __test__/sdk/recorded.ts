/** The compared parts of an answer. */
export interface ComparedAnswer {
  readonly status: number;
  readonly tag?: string;
  readonly kind?: string;
  readonly field?: string;
  /** The members of a body. Absent without a body. */
  readonly keys?: readonly string[];
  /** The members of its `data`, or of the first item in `data`. */
  readonly data?: readonly string[];
}

export interface Recorded {
  readonly request: string;
  /** Sent unchanged if it is text, else as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The answer of OpenCode 1.18.33. */
  readonly answer: ComparedAnswer;
  /** The answer of this package if it differs, and the reason. */
  readonly here?: ComparedAnswer & { readonly why: string };
}

const empty = (status: number): ComparedAnswer => ({ status });

const invalid = (kind: string): ComparedAnswer => ({
  status: 400,
  tag: "InvalidRequestError",
  kind,
  keys: ["_tag", "kind", "message"],
});

const invalidField = (field: string): ComparedAnswer => ({
  status: 400,
  tag: "InvalidRequestError",
  field,
  keys: ["_tag", "field", "message"],
});

const failure = (status: number, tag: string, ...more: string[]): ComparedAnswer => ({
  status,
  tag,
  keys: ["_tag", "message", ...more].sort(),
});

const invalidCursor = failure(400, "InvalidCursorError");
const noSession = failure(404, "SessionNotFoundError", "sessionID");
const noMessage = failure(404, "MessageNotFoundError", "messageID", "sessionID");
const noPermission = failure(404, "PermissionNotFoundError", "requestID");
const noQuestion = failure(404, "QuestionNotFoundError", "requestID");
const conflict = failure(409, "ConflictError", "resource");
const oldFailure: ComparedAnswer = { status: 500, keys: ["data", "name"] };

const data = (...members: string[]): ComparedAnswer => ({ status: 200, keys: ["data"], data: members.sort() });
const page = (...members: string[]): ComparedAnswer => ({
  status: 200,
  keys: ["cursor", "data"],
  data: members.sort(),
});

const session = ["id", "projectID", "cost", "tokens", "time", "title", "location", "subpath"];
const receipt = ["admittedSeq", "id", "sessionID", "prompt", "delivery", "timeCreated"];
const user = ["id", "time", "text", "type"];
const location: ComparedAnswer = { status: 200, keys: ["directory", "project"] };
const health: ComparedAnswer = { status: 200, keys: ["healthy"] };
const history: ComparedAnswer = { status: 200, keys: ["data", "hasMore"], data: ["data", "durable", "id", "type"] };
const unsupported: ComparedAnswer = { status: 415 };

const json = (type: string) => ({ headers: { "content-type": type }, body: "{}" });

/** The same request, with each of these queries. */
function withQueries(request: string, answer: ComparedAnswer, ...queries: string[]): Recorded[] {
  return queries.map((query) => ({ request: `${request}?${query}`, answer }));
}

const paths: Recorded[] = [
  { request: "GET /api/health", answer: health },
  { request: "GET /api/health/", answer: health },
  { request: "GET //api///health", answer: health },
  { request: "GET /api/%68ealth", answer: health },
  { request: "GET /API/Health", answer: health },
  { request: "GET /api/health?unknown=1", answer: health },
  { request: "GET /api/session/ses_a%2Fb", answer: noSession },
  { request: "GET /api/session/ses_%zz", answer: empty(404) },
  {
    request: "GET /api/nothing",
    answer: { status: 200 },
    here: { ...empty(404), why: "There is no user interface to show." },
  },
];

const absent: Recorded[] = [
  { request: "GET /api/session/ses_none", answer: noSession },
  { request: "POST /api/session/ses_none/agent", body: { agent: "build" }, answer: noSession },
  {
    request: "POST /api/session/ses_none/model",
    body: { model: { id: "m1", providerID: "mock" } },
    answer: noSession,
  },
  { request: "POST /api/session/ses_none/prompt", body: { prompt: { text: "x" } }, answer: noSession },
  { request: "POST /api/session/ses_none/prompt", body: { prompt: "text" }, answer: noSession },
  { request: "POST /api/session/ses_none/prompt", body: {}, answer: noSession },
  { request: "POST /api/session/ses_none/compact", answer: noSession },
  { request: "POST /api/session/ses_none/wait", answer: noSession },
  { request: "POST /api/session/ses_none/interrupt", answer: noSession },
  { request: "GET /api/session/ses_none/context", answer: noSession },
  { request: "GET /api/session/ses_none/message", answer: noSession },
  { request: "GET /api/session/ses_none/message?limit=x", answer: noSession },
  { request: "GET /api/session/ses_none/history", answer: noSession },
  { request: "GET /api/session/ses_none/event", answer: noSession },
  { request: "GET /api/session/ses_none/permission", answer: noSession },
  { request: "GET /api/session/ses_none/question", answer: noSession },
  { request: "POST /api/session/ses_none/revert/stage", body: { messageID: "msg_none" }, answer: noSession },
  { request: "POST /api/session/ses_none/revert/clear", answer: noSession },
  { request: "POST /api/session/ses_none/revert/commit", answer: noSession },
  { request: "GET /api/session/zzz", answer: invalidField("sessionID") },
  { request: "POST /api/session/zzz/prompt", body: "{", answer: invalidField("sessionID") },
  { request: "GET /api/session/{session}/message/zzz", answer: invalid("Params") },
  { request: "GET /api/session/{session}/message/msg_none", answer: noMessage },
  { request: "GET /api/session/{other}/message/{message}", answer: noMessage },
];

const created: Recorded[] = [
  { request: "POST /api/session", body: { id: "ses_new" }, answer: data(...session) },
  { request: "POST /api/session", body: { id: "ses_new", agent: "plan" }, answer: data(...session) },
  {
    request: "POST /api/session",
    body: { id: "ses_new", location: { directory: "/no/such/place" } },
    answer: data(...session),
  },
  {
    request: "POST /api/session",
    body: { model: { id: "m1", providerID: "mock" }, agent: "build" },
    answer: data(...session, "model", "agent"),
  },
  { request: "POST /api/session", body: { location: { directory: "{directory}/nope" } }, answer: data(...session) },
  { request: "POST /api/session", body: { bogus: 1 }, answer: data(...session) },
  { request: "POST /api/session", body: { id: null, agent: null, location: null }, answer: data(...session) },
  { request: "POST /api/session", body: { id: "zzz" }, answer: invalid("Payload") },
  { request: "POST /api/session", body: { location: { directory: 5 } }, answer: invalid("Payload") },
  { request: "POST /api/session", body: { location: "/w" }, answer: invalid("Payload") },
  { request: "POST /api/session", answer: invalid("Payload") },
  { request: "POST /api/session", body: "null", answer: invalid("Payload") },
  { request: "POST /api/session", body: "[]", answer: invalid("Payload") },
  { request: "POST /api/session", body: '"text"', answer: invalid("Payload") },
  {
    request: "POST /api/session",
    body: "{not json",
    answer: oldFailure,
    here: { ...invalid("Payload"), why: "Malformed JSON is the caller's mistake." },
  },
  {
    request: "POST /api/session",
    body: "\ufeff{}",
    answer: oldFailure,
    here: { ...invalid("Payload"), why: "Malformed JSON is the caller's mistake." },
  },
  {
    request: "POST /api/session",
    body: { location: { directory: "relative" } },
    answer: oldFailure,
    here: { ...invalidField("location.directory"), why: "An invalid path is the caller's mistake." },
  },
  { request: "POST /api/session", ...json("Application/JSON; charset=x"), answer: data(...session) },
  { request: "POST /api/session", ...json("text/plain"), answer: unsupported },
  { request: "POST /api/session", ...json("application/vnd.x+json"), answer: unsupported },
];

const prompt = (body: unknown, answer: ComparedAnswer, request = "POST /api/session/{session}/prompt"): Recorded => ({
  request,
  body,
  answer,
});
const once = { id: "msg_once", prompt: { text: "once" }, resume: false };

const prompted: Recorded[] = [
  prompt(once, data(...receipt)),
  prompt(once, data(...receipt)),
  prompt({ ...once, prompt: { text: "changed" } }, conflict),
  prompt({ ...once, prompt: { text: "once", files: [] } }, conflict),
  prompt({ ...once, delivery: "queue" }, conflict),
  prompt(once, conflict, "POST /api/session/{other}/prompt"),
  prompt({ ...once, id: "{message}" }, conflict),
  prompt({ prompt: { text: "" }, resume: false, id: null, delivery: null }, data(...receipt)),
  prompt({ prompt: { text: "x" }, resume: false, delivery: "queue", more: { a: [1] } }, data(...receipt)),
  prompt({ prompt: { text: "x" }, id: "nope" }, invalid("Payload")),
  prompt({ prompt: { text: 5 } }, invalid("Payload")),
  prompt({}, invalid("Payload")),
  prompt({ prompt: null }, invalid("Payload")),
  prompt({ prompt: "text" }, invalid("Payload")),
  prompt({ prompt: { text: "x", files: "A" } }, invalid("Payload")),
  prompt({ prompt: { text: "x", files: [{}] } }, invalid("Payload")),
  prompt({ prompt: { text: "x" }, delivery: "later" }, invalid("Payload")),
  prompt({ prompt: { text: "x" }, resume: "no" }, invalid("Payload")),
  // Admitted and not promoted, so there is no message yet.
  { request: "GET /api/session/{session}/message/msg_once", answer: noMessage },
];

const sessions = "GET /api/session";
const messages = "GET /api/session/{session}/message";
const events = "GET /api/session/{session}/history";
const pages: Recorded[] = [
  ...withQueries(messages, page(...user), "order=asc", "order=asc&limit=1", "order=asc&limit=1e1"),
  ...["order=asc&limit=0x10", "order=asc&limit=%201"].map((query) => ({
    request: `${messages}?${query}`,
    answer: page(...user),
    here: { ...invalid("Query"), why: "It is no decimal number." },
  })),
  ...withQueries(messages, page(...user), "order=asc&limit[]=1", "order=asc&cursor=", "order=asc&unknown=1"),
  ...withQueries(messages, invalid("Query"), "limit=0", "limit=-1", "limit=1.5", "limit=abc", "limit=201", "limit="),
  ...withQueries(messages, invalid("Query"), "limit=1&limit=2", "order=up", "limit=x&order=up"),
  ...withQueries(messages, invalidCursor, "cursor=abcd", "cursor=%25%25", "cursor=eyJ9", "cursor={cursor}&order=asc"),
  ...withQueries(messages, page(...user), "cursor={cursor}", "cursor={cursor}&limit=2"),
  ...withQueries(messages, page(), "cursor={last}"),
  {
    request: "GET /api/session/{other}/message?cursor={cursor}",
    answer: page(),
    here: { ...invalidCursor, why: "A cursor belongs to its session, and an empty page would hide a mistake." },
  },
  ...withQueries(sessions, page(...session), "", "limit=1", "limit=5000", "order=asc", "search=NEW%20SESSION"),
  ...withQueries(sessions, page(...session), "limit=1&cursor={sessions}", "cursor={sessions}&directory=/x&order=asc"),
  ...withQueries(sessions, page(), "project=none", "directory=", "search=nothing%20like%20it"),
  ...withQueries(sessions, invalid("Query"), "limit=0", "limit=1.5", "workspace=zzz", "order=up"),
  ...withQueries(sessions, invalidCursor, "cursor=", "cursor=abcd"),
  {
    request: "GET /api/session?directory=relative",
    answer: oldFailure,
    here: { ...invalidField("directory"), why: "An invalid path is the caller's mistake." },
  },
  ...withQueries(events, history, "after=", "after=0&limit=1", "limit=100"),
  ...withQueries(events, { ...history, data: [] }, "after=100000"),
  ...withQueries(events, invalid("Query"), "after=-1", "limit=101", "limit=0", "after=x"),
  ...withQueries("GET /api/session/{session}/event", invalid("Query"), "after=-1", "after=1.5", "after=x"),
];

const operations: Recorded[] = [
  { request: "GET /api/session/{session}", answer: data(...session) },
  { request: "GET /api/session/active", answer: data() },
  { request: "GET /api/session/{session}/context", answer: data(...user) },
  { request: "GET /api/session/{session}/message/{message}", answer: data(...user) },
  { request: "POST /api/session/{session}/interrupt", answer: empty(204) },
  { request: "POST /api/session/{session}/interrupt", ...json("text/plain"), answer: empty(204) },
  { request: "POST /api/session/{other}/agent", body: { agent: "" }, answer: empty(204) },
  { request: "POST /api/session/{other}/agent", body: { agent: 5 }, answer: invalid("Payload") },
  { request: "POST /api/session/{other}/model", body: { model: { id: "m1", providerID: "mock" } }, answer: empty(204) },
  { request: "POST /api/session/{other}/model", body: { model: { id: "m1" } }, answer: invalid("Payload") },
  {
    request: "POST /api/session/{other}/wait",
    answer: failure(503, "ServiceUnavailableError", "service"),
    here: { ...empty(204), why: "This package supports it." },
  },
  {
    request: "POST /api/session/{other}/compact",
    answer: failure(503, "ServiceUnavailableError", "service"),
    here: { ...empty(204), why: "This package supports it." },
  },
  { request: "GET /api/session/{session}/permission/per_x", answer: noPermission },
  { request: "POST /api/session/{session}/permission/per_x/reply", body: { reply: "once" }, answer: noPermission },
  { request: "POST /api/session/{session}/permission/per_x/reply", body: { reply: 1 }, answer: invalid("Payload") },
  { request: "GET /api/session/{session}/permission/zzz", answer: invalid("Params") },
  { request: "POST /api/session/{session}/permission", body: { action: "edit" }, answer: invalid("Payload") },
  { request: "POST /api/session/{session}/question/que_x/reply", body: { answers: [["Yes"]] }, answer: noQuestion },
  { request: "POST /api/session/{session}/question/que_x/reject", answer: noQuestion },
  { request: "DELETE /api/permission/saved/none", answer: empty(204) },
  { request: "GET /api/integration/none", answer: { status: 200, keys: ["data", "location"], data: [] } },
  {
    request: "POST /api/integration/none/connect/key",
    body: { key: "x" },
    answer: oldFailure,
    here: { ...invalidField("integrationID"), why: "An invalid id is the caller's mistake." },
  },
  {
    request: "GET /api/integration/attempt/none",
    answer: oldFailure,
    here: { ...invalidField("attemptID"), why: "An invalid id is the caller's mistake." },
  },
  { request: "POST /api/integration/none/connect/key", body: {}, answer: invalid("Payload") },
  { request: "DELETE /api/integration/attempt/none", answer: empty(204) },
  { request: "DELETE /api/credential/none", answer: empty(204) },
  { request: "PATCH /api/credential/none", body: { label: "Mine" }, answer: empty(204) },
  { request: "PATCH /api/credential/none", body: {}, answer: invalid("Payload") },
  { request: "GET /api/provider/none", answer: failure(404, "ProviderNotFoundError", "providerID") },
  { request: "GET /api/location", answer: location },
  { request: "GET /api/location?directory=%2Fnowhere", answer: location },
  { request: "GET /api/location?location.directory=%2Fnowhere", answer: location },
  { request: "GET /api/location?location%5Bmore%5D=x", answer: location },
  { request: "GET /api/location?location=%7B%7D", answer: invalid("Query") },
  {
    request: "GET /api/location?location[directory]=relative",
    answer: oldFailure,
    here: { ...invalidField("location.directory"), why: "An invalid path is the caller's mistake." },
  },
  {
    request: "GET /api/location?location[directory]=/no/such/place",
    answer: oldFailure,
    here: { ...invalidField("location.directory"), why: "An invalid path is the caller's mistake." },
  },
  {
    request: "GET /api/location?location[workspace]=zzz",
    answer: oldFailure,
    here: { ...invalid("Query"), why: "An invalid query is the caller's mistake." },
  },
];

/** Requests that were sent to OpenCode, and its answers. The test sends them in this order. */
export const recorded: readonly Recorded[] = [...paths, ...absent, ...pages, ...operations, ...created, ...prompted];
