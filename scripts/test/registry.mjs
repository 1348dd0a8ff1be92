// A package registry that records the published packages.

import { once } from "node:events";
import http from "node:http";

/** @typedef {{ name: string, version: string, tag: string, token: string | undefined, bytes: number }} Published */

/**
 * @param {(published: Published) => boolean} [accepts] Returns false to refuse a package. Default: accepts all.
 */
export async function startRegistry(accepts = () => true) {
  /** @type {Published[]} */
  const published = [];
  const server = http.createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname.slice(1));
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || "{}");
    const status = request.method === "PUT" ? put(request, body) : 200;
    const found = published.filter((one) => one.name === name);
    response.writeHead(found.length === 0 && status === 200 ? 404 : status, { "content-type": "application/json" });
    response.end(JSON.stringify({ name, "dist-tags": {}, versions: Object.fromEntries(found.map(toVersion)) }));
  });
  /**
   * @param {http.IncomingMessage} request
   * @param {any} body
   */
  function put({ headers }, { name, versions, "dist-tags": tags, _attachments }) {
    const [[tag, version]] = Object.entries(tags);
    const [{ data }] = /** @type {{ data: string }[]} */ (Object.values(_attachments));
    if (versions[version].name !== name) return 400;
    const one = { name, version, tag, token: headers.authorization, bytes: Buffer.from(data, "base64").length };
    if (!accepts(one)) return 500;
    published.push(one);
    return 201;
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    published,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

/** @param {Published} published */
function toVersion({ name, version }) {
  return [version, { name, version, dist: {} }];
}
