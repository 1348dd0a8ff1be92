// A small table of operations with every form the generated one has.

const place = { directory: null, workspaceID: null };
const file = { uri: null, source: { start: null, end: null } };

export const operations = [
  operation("health", "get", "GET", ["/api/health"], { input: "none" }),
  operation("location", "get", "GET", ["/api/location"], { input: "optional", query: ["location"] }),
  operation("sessions", "create", "POST", ["/api/session"], {
    input: "optional",
    payload: ["id", "agent", "location"],
    shapes: { location: place },
    success: { kind: "value", unwrap: true },
  }),
  operation("sessions", "get", "GET", ["/api/session/", { param: "sessionID" }], {
    success: { kind: "value", unwrap: true },
    errors: [400, 401, 404, 500, 503],
  }),
  operation("sessions", "prompt", "POST", ["/api/session/", { param: "sessionID" }, "/prompt"], {
    payload: ["id", "prompt", "delivery", "resume", "metadata"],
    texts: ["prompt"],
    shapes: { prompt: { text: null, files: [file] } },
    success: { kind: "value", unwrap: true },
    errors: [400, 401, 404, 409, 500, 503],
  }),
  operation("sessions", "interrupt", "POST", ["/api/session/", { param: "sessionID" }, "/interrupt"], {
    success: { kind: "void" },
  }),
  operation("sessions", "list", "GET", ["/api/session"], {
    input: "optional",
    query: ["limit", "order", "search", "directory", "cursor"],
    success: { kind: "page", continuation: ["cursor"] },
  }),
  operation("sessions", "messages", "GET", ["/api/session/", { param: "sessionID" }, "/message"], {
    query: ["limit", "order", "cursor"],
    success: { kind: "page", continuation: ["sessionID", "cursor"] },
  }),
  operation("sessions", "events", "GET", ["/api/session/", { param: "sessionID" }, "/event"], {
    query: ["after"],
    success: { kind: "stream" },
    errors: [400, 404],
  }),
  operation("sessions", "revert.stage", "POST", ["/api/session/", { param: "sessionID" }, "/revert/stage"], {
    payload: ["messageID", "files"],
    success: { kind: "value", unwrap: true },
  }),
  operation("sessions", "revert.clear", "POST", ["/api/session/", { param: "sessionID" }, "/revert/clear"], {
    success: { kind: "void" },
  }),
  operation("sessions", "inbox.list", "GET", ["/api/session/", { param: "sessionID" }, "/inbox"], {
    success: { kind: "value", unwrap: true },
  }),
  operation("sessions", "export", "GET", ["/api/session/", { param: "sessionID" }, "/export"], {
    success: { kind: "lines" },
    errors: [400, 404],
  }),
  operation("sessions", "import", "POST", ["/api/session/import"], {
    payload: "lines",
    success: { kind: "value", unwrap: true },
    errors: [400, 409],
  }),
  operation("files", "read", "GET", ["/api/fs/read/", { rest: "path" }], {
    query: ["location"],
    success: { kind: "bytes" },
    errors: [400, 404],
  }),
  operation("ptys", "connectToken", "POST", ["/api/pty/", { param: "ptyID" }, "/connect-token"], {
    headers: { "x-opencode-ticket": "1" },
  }),
  operation("events", "subscribe", "GET", ["/api/event"], { input: "none", success: { kind: "stream" } }),
];

export const tags = ["SessionNotFoundError", "MessageNotFoundError", "ConflictError"];

function operation(group: string, name: string, method: string, path: unknown[], rest: object) {
  return {
    group,
    name,
    method,
    path,
    query: [],
    payload: null,
    input: "required",
    success: { kind: "value", unwrap: false },
    errors: [400, 401, 500, 503],
    ...rest,
  };
}
