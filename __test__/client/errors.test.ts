import vm from "node:vm";
import { ClientError, isClientError, isTagged } from "../../dist/client/errors.js";
import { taggedError } from "../../dist/client/failures.js";
import * as guards from "../../dist/client/generated/guards.js";

/** Loads the module a second time, as a second copy of the package does. */
function secondCopy(): typeof import("../../dist/client/errors.js") {
  let copy: typeof import("../../dist/client/errors.js") | undefined;
  jest.isolateModules(() => {
    copy = require("../../dist/client/errors.js");
  });
  return copy as typeof import("../../dist/client/errors.js");
}

describe("guards", () => {
  test.each([
    [{ _tag: "SessionNotFoundError" }, true],
    [taggedError({ _tag: "SessionNotFoundError", message: "" }), true],
    [vm.runInNewContext('Object.assign(new Error(), { _tag: "SessionNotFoundError" })'), true],
    [{ _tag: "ConflictError" }, false],
    [new Error("SessionNotFoundError"), false],
    ["SessionNotFoundError", false],
    [null, false],
    [undefined, false],
  ])("check only the tag: %p", (value, expected) => {
    expect(guards.isSessionNotFoundError(value)).toBe(expected);
    expect(isTagged(value, "SessionNotFoundError")).toBe(expected);
  });

  test("accept both tags of a missing message", () => {
    for (const _tag of ["MessageNotFoundError", "SessionMessageNotFoundError"]) {
      expect(guards.isMessageNotFoundError({ _tag })).toBe(true);
      expect(guards.isSessionMessageNotFoundError({ _tag })).toBe(true);
    }
  });
});

describe("ClientError", () => {
  test("has a name, a reason and a cause", () => {
    const cause = new Error("reset");
    const error = new ClientError("Transport", { cause });
    expect(error).toMatchObject({ name: "ClientError", reason: "Transport" });
    expect(error.cause).toBe(cause);
    expect(String(error)).toBe("ClientError: The request or its response could not be carried: reset");
    expect(error).toBeInstanceOf(ClientError);
  });

  test("is recognised across copies of the package and across realms", () => {
    const copy = secondCopy();
    const error = new copy.ClientError("UnexpectedStatus", { cause: { status: 418 } });
    expect(error).not.toBeInstanceOf(ClientError);
    expect(isClientError(error)).toBe(true);
    const foreign = vm.runInNewContext('Object.assign(new Error(), { name: "ClientError", reason: "Transport" })');
    expect(foreign).not.toBeInstanceOf(Error);
    expect(isClientError(foreign)).toBe(true);
  });

  test.each([
    [new Error("ClientError")],
    [{ name: "ClientError" }],
    [{ reason: "Transport" }],
    ["ClientError"],
    [null],
  ])("is not %p", (value) => {
    expect(isClientError(value)).toBe(false);
  });
});

test("creates a tagged failure in the realm of the caller", () => {
  const error = taggedError({ _tag: "ConflictError", message: "m" });
  expect(error).toBeInstanceOf(Error);
  expect(() => {
    throw error;
  }).toThrow("m");
});
