// The scripted model server for programs that are run as checks.

import { createRequire } from "node:module";

const { startModel } = createRequire(import.meta.url)("../../testkit/model.js");

/**
 * @template T
 * @param {(model: any) => Promise<T>} use
 */
export async function withModel(use) {
  const model = await startModel();
  try {
    return await use(model);
  } finally {
    await model.close();
  }
}

/**
 * The environment variables that select this model for a program.
 *
 * @param {{ url: string }} model
 */
export function modelEnv(model) {
  return { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "scripted" };
}
