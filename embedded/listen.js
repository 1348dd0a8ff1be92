"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.listen = listen;
const credentials_js_1 = require("../client/credentials.js");
const request_js_1 = require("../client/request.js");
const checks_js_1 = require("./checks.js");
const disposable_js_1 = require("./disposable.js");
/** Answers the requests of network clients with this host. */
async function listen(connection, given) {
    const native = await connection.listen((0, request_js_1.encodeJson)((0, checks_js_1.checkListenOptions)(given)));
    const { url, username, password } = native;
    let closing;
    const close = () => (closing ??= connection.closeListener(native));
    const isOpen = username === null || password === null;
    const secrets = {
        password: password ?? undefined,
        headers: Object.freeze(isOpen ? {} : { authorization: (0, credentials_js_1.basicAuthorization)(username, password) }),
        clientUrl: isOpen ? url : (0, credentials_js_1.addCredentials)(url, username, password),
    };
    return hide((0, disposable_js_1.asyncDisposable)({ url, username: username ?? undefined, close }, close), secrets);
}
/** Adds members that are not enumerable: a listener that is printed or serialised does not show them. */
function hide(target, secrets) {
    for (const [name, value] of Object.entries(secrets))
        Object.defineProperty(target, name, { value });
    return target;
}
