// Parts of messages of the AI SDK, for streams and stored messages: ids, results of tools and cited sources.

import { citedSources } from "../client/cited-sources.js";
import type { Answer } from "../client/cited-sources.js";
import type { SourcePart } from "./ui-types.js";

/** The type of a document whose type is unknown. */
const UNKNOWN_TYPE = "application/octet-stream";

/** The id of the message that answers a prompt. */
export function answerID(messageID: string) {
  return `${messageID}-answer`;
}

/** An id that is unique in the message: providers may use the same id in every turn. */
export function partID(messageID: string, id: string) {
  return `${messageID}/${id}`;
}

/** The result of a tool as users see it: the structured value, or the text for the model. */
export function toolOutput(structured: Readonly<Record<string, unknown>> | undefined, text: string) {
  return structured !== undefined && Object.keys(structured).length > 0 ? structured : text;
}

/**
 * Returns the parts for the sources that an answer cites.
 *
 * @param answer The answer, or the event that ends it.
 */
export function sourceParts(messageID: string, answer: Answer): SourcePart[] {
  return citedSources(answer).map((source, index) => {
    const sourceId = partID(messageID, `source-${index}`);
    if (source.type === "url") {
      const { url, title } = source;
      return { type: "source-url", sourceId, url, ...(title === undefined ? {} : { title }) };
    }
    const { id, filename, title = filename ?? id ?? "", mediaType = UNKNOWN_TYPE } = source;
    const named = filename === undefined ? {} : { filename };
    return { type: "source-document", sourceId, mediaType, title, ...named };
  });
}
