/** Admits this number of prompts without a wake. */
export async function admit(host, sessionID, count) {
  const prompt = (n) => host.sessions.prompt({ sessionID, prompt: { text: `Prompt ${n}` }, resume: false });
  for (let at = 0; at < count; at += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - at) }, (_, n) => prompt(at + n)));
  }
}
