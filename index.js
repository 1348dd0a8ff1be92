"use strict";

// Older versions of Node cannot load the rest of the package.
require("./dist/host/node-version.js").requireSupportedNode();

module.exports = { ...require("./dist/index.js") };
