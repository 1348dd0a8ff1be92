// Results of tools in the form of the native host.

import { describe } from "./checks.js";
import type { ToolContent } from "../client/index.js";
import type { ToolOutput } from "./program.js";
import type { ToolPart, ToolParts } from "./tool-types.js";

/** Reads the result of a tool without an output schema. */
export function readOutput(value: unknown): ToolOutput {
  if (typeof value === "string") return { structured: {}, content: [{ type: "text", text: value }] };
  if (isParts(value)) {
    const content = value.content.map(readPart);
    return { structured: checkRepresentable(value.structured) ?? {}, content };
  }
  return { structured: checkRepresentable(value) ?? {}, content: [] };
}

/** Refuses a value that JSON leaves out, which would become a success without a result. Returns other values. */
export function checkRepresentable(value: unknown) {
  const hasOwnForm = typeof value === "object" && value !== null && "toJSON" in value;
  const isLeftOut = typeof value === "function" || typeof value === "symbol";
  if (isLeftOut || (hasOwnForm && JSON.stringify(value) === undefined)) {
    throw new TypeError(`The result must be a JSON value, got ${describe(value)}`);
  }
  return value;
}

function isParts(value: unknown): value is ToolParts {
  if (typeof value !== "object" || value === null || !("content" in value)) return false;
  const { content } = value;
  return Array.isArray(content) && content.every((part) => typeof part === "object" && part !== null && "type" in part);
}

function readPart(part: ToolPart): ToolContent {
  switch (part.type) {
    case "text":
      if (typeof part.text === "string") return { type: "text", text: part.text };
      throw new TypeError(`A part of the result must have a text, got ${describe(part.text)}`);
    case "image":
      return readFile(part.data, part.mediaType, undefined);
    case "file":
      return readFile(part.data, part.mediaType, part.filename);
    default: {
      const { type } = part as { type: unknown };
      throw new TypeError(`A part of the result must be of the type "text", "image" or "file", got ${describe(type)}`);
    }
  }
}

function readFile(data: unknown, mediaType: unknown, filename: unknown): ToolContent {
  if (typeof mediaType !== "string" || !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType)) {
    throw new TypeError(`A file of the result must have a media type such as "image/png", got ${describe(mediaType)}`);
  }
  const base64 = encodeData(data);
  return {
    type: "file",
    uri: `data:${mediaType};base64,${base64}`,
    mime: mediaType,
    ...(typeof filename === "string" ? { name: filename } : {}),
  };
}

function encodeData(data: unknown) {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  if (typeof data === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(data)) return data;
  throw new TypeError(`The data of a file must be base64 text or bytes, got ${describe(data)}`);
}
