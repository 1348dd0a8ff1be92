// User and password of a server, in addresses and headers.

/** The value of the header `authorization` for HTTP Basic. */
export function basicAuthorization(username: string, password: string) {
  // `btoa` takes bytes, each as one character.
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

/**
 * Removes user and password from an address, because `fetch` refuses an address with them. Returns the equivalent
 * value of the header `authorization`, or undefined without a user and a password. No failure shows them.
 */
export function takeAuthorization(url: URL) {
  const { username, password } = url;
  if (username === "" && password === "") return undefined;
  url.username = "";
  url.password = "";
  return basicAuthorization(decode(username), decode(password));
}

function decode(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError("createClient needs the user and the password in baseUrl percent-encoded as UTF-8");
  }
}

/**
 * An address with user and password, which clients accept.
 *
 * @param address An address without them.
 */
export function addCredentials(address: string, username: string, password: string) {
  return address.replace("//", () => `//${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);
}
