// A scripted MCP server over HTTP that needs a token, together with its authorization server, which also knows devices.

import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const ECHO = {
  name: "echo",
  description: "Returns a text.",
  inputSchema: { type: "object", properties: { at: { type: "integer" } } },
};

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

/** A running server. */
export class AuthorizationServer {
  /** The tokens and codes that the server gave out. */
  readonly secrets: string[] = [];
  /** The requests for tokens, by their kind. */
  readonly grants: string[] = [];
  /** False if the server registers no clients. */
  registers = true;
  /** Seconds until a token ends. */
  lifetime = 3600;
  /** True if the user has entered the code of a device. */
  isEntered = false;
  #device = "";
  readonly #access = new Set<string>();
  readonly #refresh = new Set<string>();
  readonly #codes = new Map<string, string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start() {
    const server = new AuthorizationServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get origin() {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url() {
    return `${this.origin}/mcp`;
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Forgets all access tokens, so that clients must renew them. */
  revoke() {
    this.#access.clear();
  }

  /** Ends all tokens. */
  forget() {
    this.#access.clear();
    this.#refresh.clear();
  }

  /** The answer of a user on the page of an attempt: the address to which the browser goes back. */
  consent(page: string, answer: "agree" | "refuse" = "agree") {
    const query = new URL(page).searchParams;
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("state", query.get("state") ?? "");
    if (answer === "refuse") {
      back.searchParams.set("error", "access_denied");
      return back.href;
    }
    const code = this.#secret("code");
    this.#codes.set(code, query.get("code_challenge") ?? "");
    back.searchParams.set("code", code);
    return back.href;
  }

  #secret(kind: string) {
    const secret = `${kind}-${randomUUID()}`;
    this.secrets.push(secret);
    return secret;
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request);
    const { pathname } = new URL(request.url ?? "/", this.origin);
    const send = (status: number, value?: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(value === undefined ? "" : JSON.stringify(value));
    };
    switch (pathname) {
      case "/mcp":
        return this.#resource(request, body, send);
      case "/.well-known/oauth-protected-resource/mcp":
        return send(200, { resource: this.url, authorization_servers: [this.origin] });
      case "/.well-known/oauth-authorization-server":
        return send(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          ...(this.registers ? { registration_endpoint: `${this.origin}/register` } : {}),
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
        });
      case "/register":
        return send(201, { ...JSON.parse(body), client_id: "client-1" });
      case "/device":
        return send(200, {
          device_code: (this.#device = this.#secret("device")),
          user_code: "WDJB-MJHT",
          verification_uri: `${this.origin}/enter`,
          interval: 1,
        });
      case "/token":
        return this.#token(new URLSearchParams(body), send);
      default:
        return send(404);
    }
  }

  #resource(request: IncomingMessage, body: string, send: Send) {
    const token = request.headers.authorization?.replace(/^Bearer /i, "") ?? "";
    if (!this.#access.has(token)) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
      return send(401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
    }
    if (request.method !== "POST") return send(405);
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return send(202);
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "notes", version: "1.0.0" },
      },
      "tools/list": { tools: [ECHO] },
      "tools/call": { content: [{ type: "text", text: "echoed" }] },
    };
    return send(200, { jsonrpc: "2.0", id, result: results[method] ?? {} });
  }

  #token(form: URLSearchParams, send: Send) {
    const kind = form.get("grant_type") ?? "";
    this.grants.push(kind);
    // Like GitHub, with status 200.
    if (kind === DEVICE_CODE && !this.isEntered) return send(200, { error: "authorization_pending" });
    if (!this.#isKnown(kind, form)) return send(400, { error: "invalid_grant" });
    const access_token = this.#secret("access");
    const refresh_token = this.#secret("refresh");
    this.#access.add(access_token);
    this.#refresh.add(refresh_token);
    return send(200, { access_token, refresh_token, token_type: "Bearer", expires_in: this.lifetime });
  }

  #isKnown(kind: string, form: URLSearchParams) {
    // Each refresh token is valid once.
    if (kind === "refresh_token") return this.#refresh.delete(form.get("refresh_token") ?? "");
    return kind === DEVICE_CODE ? form.get("device_code") === this.#device : this.#isCode(form);
  }

  #isCode(form: URLSearchParams) {
    const challenge = this.#codes.get(form.get("code") ?? "");
    const proof = createHash("sha256").update(form.get("code_verifier") ?? "");
    return challenge !== undefined && challenge === proof.digest("base64url");
  }
}

type Send = (status: number, value?: object, headers?: Record<string, string>) => void;
