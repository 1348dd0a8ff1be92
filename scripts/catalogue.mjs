// Writes the list of models that the addon contains, from a document in the format of https://models.dev/api.json.
//
//     node scripts/catalogue.mjs api.json
//
// The file begins with the length of its index in four bytes. The index is JSON: the date of the newest change, and the
// providers with the places of their models. The models of each provider follow, compressed on their own, because a host
// reads those of the providers in use alone.

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { deflateRawSync } from "node:zlib";

const OUTPUT = path.join(import.meta.dirname, "..", "crates", "location", "data", "models.bin");

/** The members of a model that the catalogue reads. */
const MEMBERS = [
  "name",
  "family",
  "release_date",
  "reasoning",
  "reasoning_options",
  "interleaved",
  "tool_call",
  "structured_output",
  "modalities",
  "cost",
  "limit",
  "status",
  "provider",
  "experimental",
];

/** @param {Record<string, unknown>} model @param {string} id */
function trimmed(model, id) {
  const kept = Object.fromEntries(MEMBERS.filter((name) => name in model).map((name) => [name, model[name]]));
  return model["id"] === id ? kept : { id: model["id"], ...kept };
}

const [, , source] = process.argv;
if (source === undefined) throw new Error("Usage: node scripts/catalogue.mjs <api.json>");
/** @type {Record<string, { name?: string, env?: string[], npm?: string, api?: string, models: Record<string, Record<string, unknown>> }>} */
const document = JSON.parse(readFileSync(source, "utf8"));
let date = "";
let at = 0;
/** @type {Buffer[]} */
const blobs = [];
/** @type {Record<string, object>} */
const providers = {};
for (const [id, { name, env, npm, api, models }] of Object.entries(document)) {
  const entries = Object.entries(models);
  for (const [, { last_updated: updated }] of entries) if (String(updated) > date) date = String(updated);
  const text = JSON.stringify(Object.fromEntries(entries.map(([key, model]) => [key, trimmed(model, key)])));
  const blob = deflateRawSync(text, { level: 9 });
  blobs.push(blob);
  providers[id] = { name, env, npm, api, at, bytes: blob.length, size: Buffer.byteLength(text) };
  at += blob.length;
}
const index = Buffer.from(JSON.stringify({ date, providers }));
const length = Buffer.alloc(4);
length.writeUInt32LE(index.length);
writeFileSync(OUTPUT, Buffer.concat([length, index, ...blobs]));
const count = Object.values(document).reduce((sum, { models }) => sum + Object.keys(models).length, 0);
console.log(`${Object.keys(document).length} providers, ${count} models, as of ${date}: ${index.length + at} bytes`);
