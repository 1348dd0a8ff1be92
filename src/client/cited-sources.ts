// The sources that answers cite.

import type { SessionMessage } from "./generated/types.js";
import type { CitedSource } from "./types.js";

/** A message, or the event that ends an answer. */
export type Answer = SessionMessage | { readonly metadata?: unknown };

/** An address that a program can show as a link. */
const WEB_ADDRESS = /^https?:\/\/\S+$/i;

/**
 * Returns the sources that an answer cites, each once, in the order in which it cites them. Other messages have none.
 * Leaves out values that a host does not store, which imported sessions may contain.
 *
 * @example
 * ```ts
 * const { items } = await opencode.sessions.messages({ sessionID })
 * for (const source of items.flatMap(citedSources)) console.log(source.title, source.type === "url" ? source.url : "")
 * ```
 */
export function citedSources(answer: Answer): CitedSource[] {
  const metadata: unknown = "metadata" in answer ? answer.metadata : undefined;
  const { sources } = (metadata ?? {}) as Record<string, unknown>;
  return Array.isArray(sources) ? sources.flatMap(readSource) : [];
}

/** Joins the sources of several answers, each source once. */
export function joinSources(answers: readonly Answer[]): CitedSource[] {
  const known = new Map<string, CitedSource>();
  for (const source of answers.flatMap(citedSources)) {
    const key = source.type === "url" ? source.url : JSON.stringify(source);
    if (!known.has(key)) known.set(key, source);
  }
  return [...known.values()];
}

function readSource(source: unknown): CitedSource[] {
  if (typeof source !== "object" || source === null) return [];
  const { type, url, id, title, filename, mediaType } = source as Record<string, unknown>;
  if (type === "url" && typeof url === "string" && WEB_ADDRESS.test(url)) return [{ type, url, ...texts({ title }) }];
  return type === "document" ? [{ type, ...texts({ id, title, filename, mediaType }) }] : [];
}

function texts<Name extends string>(members: Record<Name, unknown>): Partial<Record<Name, string>> {
  const given = Object.entries(members).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}
