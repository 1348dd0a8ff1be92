"use strict";

// Opens a host and performs no further action.

const { open, print } = require("./support.js");

void open().then(() => print("open"));
