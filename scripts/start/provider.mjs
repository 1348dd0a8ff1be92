// A session on the user's directory, with a model of the user's.

import { statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Failure } from "../lib/failure.mjs";

const DEFAULT_URL = "https://api.openai.com/v1";
const DEFAULT_MODEL = "gpt-4.1-mini";
const DEFAULT_PROMPT = "Look around in this directory and tell me in a few sentences what it is.";

/**
 * @typedef {object} Setup What a session is run with.
 * @property {string} model What the terminal calls the model.
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
  throw new Failure(`OPENAI_BASE_URL has to be an http or https address, and ${url} is none`);
}

/** @param {string | undefined} given npm runs scripts in the project; the user is where INIT_CWD says. */
function checkDirectory(given) {
  const directory = path.resolve(process.env.INIT_CWD ?? ".", given ?? ".");
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return directory;
  throw new Failure(`There is no directory ${directory}`);
}

/** A file of its own, so that the sessions of a program that is open meanwhile are not in the way. */
function databaseFile() {
  const data = process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local/share");
  return path.join(data, "opencode/embedded/start.db");
}
