"use strict";
// User and password of a server, in addresses and headers.
Object.defineProperty(exports, "__esModule", { value: true });
exports.basicAuthorization = basicAuthorization;
exports.takeAuthorization = takeAuthorization;
exports.addCredentials = addCredentials;
/** The value of the header `authorization` for HTTP Basic. */
function basicAuthorization(username, password) {
    // `btoa` takes bytes, each as one character.
    const bytes = new TextEncoder().encode(`${username}:${password}`);
    return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}
/**
 * Removes user and password from an address, because `fetch` refuses an address with them. Returns the equivalent
 * value of the header `authorization`, or undefined without a user and a password. No failure shows them.
 */
function takeAuthorization(url) {
    const { username, password } = url;
    if (username === "" && password === "")
        return undefined;
    url.username = "";
    url.password = "";
    return basicAuthorization(decode(username), decode(password));
}
function decode(text) {
    try {
        return decodeURIComponent(text);
    }
    catch {
        throw new TypeError("createClient needs the user and the password in baseUrl percent-encoded as UTF-8");
    }
}
/**
 * An address with user and password, which clients accept.
 *
 * @param address An address without them.
 */
function addCredentials(address, username, password) {
    return address.replace("//", () => `//${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);
}
