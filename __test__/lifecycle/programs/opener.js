"use strict";

// Opens a host and performs no further action.

const { open, say } = require("./support.js");

void open().then(() => say("open"));
