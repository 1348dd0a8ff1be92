// The user and the password of a server, as addresses and headers carry them.

/** The value of the header `authorization` for HTTP Basic. */
export function basicAuthorization(username: string, password: string) {
  // btoa takes bytes, each as one character.
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

/**
 * Takes the user and the password out of an address, which fetch refuses with them in it, and gives the value of the
 * header `authorization` that says the same. Undefined when the address names none. No failure shows them.
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
 * An address with user and password, which clients take.
 *
 * @param address Without any.
 */
export function addCredentials(address: string, username: string, password: string) {
  return address.replace("//", () => `//${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);
}
