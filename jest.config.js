"use strict";

/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  roots: ["<rootDir>/__test__"],
  testMatch: ["**/*.test.ts"],
  // The package itself is tested as it is shipped; only the tests are TypeScript.
  transform: {
    "\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript", explicitResourceManagement: true } } },
    ],
  },
};
