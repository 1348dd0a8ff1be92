// The options of a call that stand in the input of a stream.

import { createClient, type EventsSubscribeInput, type RequestOptions } from "../../dist/client/index.js";
import { collect, events, rejection } from "./support";

function setUpClient() {
  const requests: { url: string; headers: Headers }[] = [];
  const fetch = (url: string, init?: RequestInit) => {
    requests.push({ url, headers: new Headers(init?.headers) });
    return Promise.resolve(events(['data: {"id":"evt_1","type":"server.connected","data":{}}\n\n']));
  };
  return { client: createClient({ baseUrl: "http://host", fetch: fetch as typeof globalThis.fetch }), requests };
}

test.each<[(EventsSubscribeInput & RequestOptions) | undefined, RequestOptions | undefined, string, string | null]>([
  [undefined, undefined, "", null],
  [{}, undefined, "", null],
  [{ headers: { "x-a": "1" } }, undefined, "", "1"],
  [
    { types: ["session.*", "mcp.updated"], headers: { "x-a": "1" } },
    undefined,
    "?types=session.*&types=mcp.updated",
    "1",
  ],
  [{ sessionID: "ses_1" }, { headers: { "x-a": "2" } }, "?sessionID=ses_1", "2"],
  [{ headers: { "x-a": "1" } }, { headers: { "x-a": "2" } }, "", "2"],
])("%j and %j", async (input, options, query, header) => {
  const { client, requests } = setUpClient();
  await collect(client.events.subscribe(input, options));
  const [request] = requests;
  expect(request?.url).toMatch(new RegExp(`/api/event${query.replaceAll(/[?.*]/g, "\\$&")}$`));
  expect(request?.headers.get("x-a")).toBe(header);
});

test.each([
  [{ timeout: 5 }, "signal: AbortSignal.timeout(ms)"],
  [new AbortController().signal, "got a signal"],
  [{ typs: ["a"] }, "Did you mean types?"],
  [{ types: ["a"], timeout: 5 }, "Unknown member timeout"],
  ["session.idle", "events.subscribe"],
])("refuses %p", async (input, message) => {
  const { client, requests } = setUpClient();
  const error = await rejection(collect(client.events.subscribe(input as EventsSubscribeInput)));
  expect(error).toMatchObject({ message: expect.stringContaining(message) });
  expect(requests).toEqual([]);
});
