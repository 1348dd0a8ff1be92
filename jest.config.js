"use strict";

/**
 * @param {string} syntax
 * @returns {import("jest").TransformerConfig}
 */
const compiled = (syntax) => [
  "@swc/jest",
  { jsc: { target: "es2022", parser: { syntax, explicitResourceManagement: true } } },
];

/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  // By default one core is left free; of two that is half. The tests wait more than they compute.
  maxWorkers: "100%",
  roots: ["<rootDir>/__test__"],
  testMatch: ["**/*.test.ts"],
  // The package itself is tested as it is shipped; only the tests are TypeScript.
  transform: {
    "\\.ts$": compiled("typescript"),
    // Jest loads ECMAScript modules only when they are compiled. Nothing else of these packages is changed.
    "/(@opencode-ai/sdk|arktype|@ark|arkregex)/.+\\.js$": compiled("ecmascript"),
  },
  transformIgnorePatterns: ["/node_modules/(?!(@opencode-ai/sdk|arktype|@ark|arkregex)/)"],
  // It exports nothing to `require`.
  moduleNameMapper: { "^@opencode-ai/sdk/v2/client$": "<rootDir>/node_modules/@opencode-ai/sdk/dist/v2/client.js" },
};
