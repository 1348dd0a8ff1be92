// A session in the user's directory, with a model of the user.

import { statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Failure } from "../lib/failure.mjs";

const DEFAULT_URL = "https://api.openai.com/v1";
const DEFAULT_MODEL = "gpt-4.1-mini";
const DEFAULT_PROMPT = "Describe this directory in a few sentences.";

/**
 * @typedef {object} Setup The inputs of a session.
 * @property {string} model The name of the model in the output.
 * @property {string} prompt
 * @property {import("../../index.js").OpenCodeOptions} options
 * @property {() => Promise<void>} end
 */

/**
 * @param {{ model?: string, directory?: string }} choices
 * @param {string} prompt
 * @returns {Setup}
 */
export function prepareProvider(choices, prompt) {
  const model = choices.model ?? DEFAULT_MODEL;
  const baseURL = checkURL(process.env.OPENAI_BASE_URL || DEFAULT_URL);
  return {
    model: `${model} at ${baseURL}`,
    prompt: prompt || DEFAULT_PROMPT,
    options: {
      directory: checkDirectory(choices.directory),
      database: databaseFile(),
      config: configure(model, baseURL),
    },
    end: async () => {},
  };
}

/**
 * @param {string} model
 * @param {string} baseURL
 */
function configure(model, baseURL) {
  const apiKey = process.env.OPENAI_API_KEY || undefined;
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL, apiKey },
    models: { [model]: { tool_call: true } },
  };
  return { model: `openai/${model}`, provider: { openai: provider } };
}

/** @param {string} url */
function checkURL(url) {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new Failure(`OPENAI_BASE_URL must be an http or https address, got ${url}`);
}

/** @param {string | undefined} given Relative to INIT_CWD, the working directory of the user. npm runs scripts in the project. */
function checkDirectory(given) {
  const directory = path.resolve(process.env.INIT_CWD ?? ".", given ?? ".");
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return directory;
  throw new Failure(`The directory ${directory} does not exist`);
}

/** A separate file, because another program may have the default file open. */
function databaseFile() {
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local/share");
  return path.join(data, "opencode/embedded/start.db");
}
