// A small table of operations with every form that a generated one has, and the client of it.

import type { Methods } from "../../dist/client/core.js";
import type { OperationOf } from "../../dist/client/operation.js";

const place = { directory: null, workspaceID: null };
const file = { uri: null, source: { start: null, end: null } };

const OPERATIONS = [
  operation("health", "get", "GET", ["/api/health"], {}),
  operation("location", "get", "GET", ["/api/location"], { query: ["location"] }),
  operation("sessions", "create", "POST", ["/api/session"], {
    payload: ["id", "agent", "location"],
    shapes: { location: place },
    unwrap: true,
  }),
  operation("sessions", "get", "GET", ["/api/session/", { param: "sessionID" }], {
    unwrap: true,
    errors: [400, 401, 404, 500, 503],
  }),
  operation("sessions", "prompt", "POST", ["/api/session/", { param: "sessionID" }, "/prompt"], {
    payload: ["id", "prompt", "delivery", "resume", "metadata"],
    texts: ["prompt"],
    shapes: { prompt: { text: null, files: [file] } },
    unwrap: true,
    errors: [400, 401, 404, 409, 500, 503],
  }),
  operation("sessions", "interrupt", "POST", ["/api/session/", { param: "sessionID" }, "/interrupt"], {
    kind: "nothing",
  }),
  operation("sessions", "list", "GET", ["/api/session"], {
    query: ["limit", "order", "search", "directory", "cursor"],
    kind: "page",
    continuation: ["cursor"],
  }),
  operation("sessions", "messages", "GET", ["/api/session/", { param: "sessionID" }, "/message"], {
    query: ["limit", "order", "cursor"],
    kind: "page",
    continuation: ["sessionID", "cursor"],
  }),
  operation("sessions", "events", "GET", ["/api/session/", { param: "sessionID" }, "/event"], {
    query: ["after"],
    kind: "events",
    errors: [400, 404],
  }),
  operation("sessions", "revert.stage", "POST", ["/api/session/", { param: "sessionID" }, "/revert/stage"], {
    payload: ["messageID", "files"],
    unwrap: true,
  }),
  operation("sessions", "revert.clear", "POST", ["/api/session/", { param: "sessionID" }, "/revert/clear"], {
    kind: "nothing",
  }),
  operation("sessions", "inbox.list", "GET", ["/api/session/", { param: "sessionID" }, "/inbox"], {
    unwrap: true,
  }),
  operation("sessions", "export", "GET", ["/api/session/", { param: "sessionID" }, "/export"], {
    kind: "lines",
    errors: [400, 404],
  }),
  operation("sessions", "import", "POST", ["/api/session/import"], {
    kind: "upload",
    payload: "lines",
    unwrap: true,
    errors: [400, 409],
  }),
  operation("files", "read", "GET", ["/api/fs/read/", { rest: "path" }], {
    query: ["location"],
    kind: "bytes",
    errors: [400, 404],
  }),
  operation("ptys", "connectToken", "POST", ["/api/pty/", { param: "ptyID" }, "/connect-token"], {
    headers: { "x-opencode-ticket": "1" },
  }),
  operation("events", "subscribe", "GET", ["/api/event"], { kind: "events" }),
];

/** A client of the sample operations. Its methods have no types: tests also give wrong inputs. */
export function createSampleOperations(methods: Methods): any {
  const client: any = {};
  for (const { kind, ...sample } of OPERATIONS) {
    const names = sample.name.split(".");
    const method = names.pop() as string;
    const group = names.reduce((node, name) => (node[name] ??= {}), client);
    const send = methods[kind as "value"];
    const hasInput = sample.query.length > 0 || sample.payload !== undefined || sample.path.length > 1;
    group[method] = hasInput
      ? (input: object, options?: object) => send(sample as unknown as OperationOf<object>, input, options)
      : (options?: object) => send(sample as unknown as OperationOf<object>, {}, options);
  }
  return client;
}

function operation(group: string, name: string, method: string, path: unknown[], rest: object) {
  return {
    kind: "value",
    name: `${group}.${name}`,
    method,
    path,
    query: [] as string[],
    payload: undefined as unknown,
    errors: [400, 401, 500, 503],
    ...rest,
  };
}
