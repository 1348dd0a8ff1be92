"use strict";

// Opens a host, and has nothing else to do.

const { open, say } = require("./support.js");

void open().then(() => say("open"));
