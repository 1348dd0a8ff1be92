// Explains a failure of a model server in one sentence.

/** @typedef {{ message: string, cause?: { kind: string } | undefined }} Problem */

/** @param {Problem} problem */
export function explain({ message, cause }) {
  const text = readProviderMessage(message)
    .trim()
    .replace(/[.\s]+$/, "");
  if (cause?.kind === "auth") return `The model server refused the key: ${text}. Check OPENAI_API_KEY`;
  if (cause?.kind === "transport") return `The model server cannot be reached: ${text}. Check OPENAI_BASE_URL`;
  return text;
}

/**
 * The text in the error body of an OpenAI-compatible server, if the message ends with one.
 *
 * @param {string} message
 */
function readProviderMessage(message) {
  const body = message.slice(message.indexOf("{"));
  try {
    const { error } = JSON.parse(body);
    return typeof error === "string" ? error : (error.message ?? message);
  } catch {
    return message;
  }
}
