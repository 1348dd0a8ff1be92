import { existsSync } from "node:fs";
import { isInvalidOptionError, OpenCode } from "../../index.js";
import { rejection } from "../client/support";
import { setUp } from "./support";

describe("an invalid option is named, and nothing is opened", () => {
  test.each([
    ["databse", { databse: "x.db" }],
    ["database", { database: 5 }],
    ["database", { database: "" }],
    ["directory", { directory: null }],
    ["directory", { directory: "a\0b" }],
    ["durability", { durability: "maximal" }],
    ["config", { config: [] }],
    ["config.big", { config: { big: 5n } }],
    ["env", { env: { NUMBER: 5 } }],
    ["home", { home: {} }],
    ["commandEnvironment", { commandEnvironment: "*" }],
    ["commandEnvironment.keep", { commandEnvironment: { keep: "*" } }],
    ["commandEnvironment.omit", { commandEnvironment: { omit: [""] } }],
    ["commandEnvironment.omitted", { commandEnvironment: { omitted: [] } }],
    ["recovery", { recovery: "automatic" }],
    ["keepAlive", { keepAlive: 1 }],
    ["titles", { titles: "small" }],
    ["reminders", { reminders: 1 }],
    ["share", { share: "auto" }],
    ["share.publish", { share: {} }],
    ["share.remove", { share: { publish: () => ({ url: "https://a" }) } }],
    ["share.mode", { share: { publish: () => {}, remove: () => {}, mode: "disabled" } }],
    ["share.update", { share: { publish: () => {}, remove: () => {}, update: () => {} } }],
    ["oauth", { oauth: "openai" }],
    ["oauth.openai", { oauth: { openai: "id" } }],
    ["oauth.openai.clientId", { oauth: { openai: { tokenUrl: "https://as.example/token" } } }],
    ["oauth.openai.tokenUrl", { oauth: { openai: { clientId: "id" } } }],
    ["oauth.openai.tokenURL", { oauth: { openai: { clientId: "id", tokenURL: "https://as.example/token" } } }],
    ["oauth.openai.scopes", { oauth: { openai: { clientId: "id", tokenUrl: "https://a", scopes: "a" } } }],
    ["oauth.openai.authorizationUrl", { oauth: { openai: { clientId: "id", tokenUrl: "https://a" } } }],
    ["oauth.openai.tokenUrl", { oauth: { openai: { clientId: "id", tokenUrl: "http://as.example/token" } } }],
    ["permissions", { permissions: "deny" }],
    ["permissions.unanswered", { permissions: { unanswered: "ask" } }],
    ["permissions.unanswered.denyAfterMs", { permissions: { unanswered: {} } }],
    ["permissions.unanswered.denyAfterMs", { permissions: { unanswered: { denyAfterMs: 0 } } }],
    ["permissions.unanswered.denyAfter", { permissions: { unanswered: { denyAfter: 5 } } }],
    ["timezone", { timezone: "Atlantis/Capital" }],
    ["timezone", { timezone: 1 }],
    ["config.timezone", { config: { timezone: "+01" } }],
    ["limits", { limits: null }],
    ["limits.inbox", { limits: { inbox: 0 } }],
    ["limits.steerBatch", { limits: { steerBatch: "10" } }],
    ["limits.inbxo", { limits: { inbxo: 5 } }],
  ])("%s, case %#", async (option, options) => {
    const setup = await setUp();
    const create = OpenCode.create({ ...setup.options(), ...(options as object) });
    const error = await rejection(create);
    expect(Object.keys(error)).toEqual(["_tag", "option", "message"]);
    expect(error).toMatchObject({ _tag: "InvalidOptionError", option, message: expect.stringContaining(option) });
    expect(isInvalidOptionError(error)).toBe(true);
    expect(existsSync(setup.database)).toBe(false);
  });

  test("refuses options that are not an object", async () => {
    for (const options of [null, 5, "x.db", []]) {
      await expect(OpenCode.create(options as never)).rejects.toMatchObject({ _tag: "InvalidOptionError" });
    }
  });
});

test("suggests the intended name for a misspelled option", async () => {
  await expect(OpenCode.create({ cwd: "/" } as never)).rejects.toThrow('"directory"');
});
