import { invalidRequest } from "../client/shape.js";
import { describe } from "./checks.js";
import { fs, path } from "./builtins.js";
import type { ImportedDocument, OmittedItem, SessionsImportDocumentInput } from "../client/index.js";

/** Largest size of the files of one session, in bytes. The host accepts no larger document. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Number of files that are read at the same time. */
const CONCURRENCY = 16;

/** The result for one session of a folder. */
export interface ImportedFolderSession {
  /** The file with the record of the session. */
  readonly path: string;
  /** The result of the import. Absent if the session was not imported. */
  readonly imported?: ImportedDocument;
  /** The reason that the session was not imported. Other sessions of the folder are not affected. */
  readonly error?: Error;
}

/** The input of `sessions.importFolder`. */
export interface ImportFolderInput {
  /** The folder `storage` in the data directory of OpenCode. It contains `session`, `message` and `part`. */
  readonly directory: string;
  /** Only this session. Default: all sessions of the folder. */
  readonly sessionID?: string;
  /**
   * `true` confirms the directories, agents and models that the files name. Give it for your own folder only. Default:
   * `false`.
   */
  readonly confirm?: boolean;
}

type ImportDocument = (document: SessionsImportDocumentInput) => Promise<ImportedDocument>;

/** Imports the sessions of a folder, one by one. Nothing is read before the first `next()`. */
export async function* importFolder(
  importDocument: ImportDocument,
  { directory, sessionID, confirm }: ImportFolderInput,
): AsyncGenerator<ImportedFolderSession, void, undefined> {
  if (typeof directory !== "string" || directory === "") {
    throw invalidRequest(`directory must be the path of a folder, got ${describe(directory)}`, "directory");
  }
  for await (const file of sessionFiles(directory)) {
    if (sessionID !== undefined && path.basename(file, ".json") !== sessionID) continue;
    yield await importSession((document) => importDocument({ ...document, confirm }), directory, file);
  }
}

async function importSession(importDocument: ImportDocument, directory: string, file: string) {
  try {
    const reading = new FolderReading(directory);
    const document = await reading.session(file);
    const imported = await importDocument(document);
    return { path: file, imported: { ...imported, omitted: [...reading.omitted, ...imported.omitted] } };
  } catch (error) {
    return { path: file, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** The files with records of sessions: `session/<project>/<session>.json`. */
async function* sessionFiles(directory: string) {
  const root = path.join(directory, "session");
  let projects;
  try {
    projects = await fs.promises.readdir(root, { withFileTypes: true });
  } catch (error) {
    throw invalidRequest(`The folder has no sessions: ${(error as Error).message}`, "directory");
  }
  for (const project of projects
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()) {
    for (const name of await jsonFiles(path.join(root, project))) yield path.join(root, project, name);
  }
}

/** The names of the JSON files of a folder, in order. A folder that does not exist has none. */
async function jsonFiles(directory: string) {
  try {
    const entries = await fs.promises.readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Reads the files of one session. */
class FolderReading {
  readonly omitted: OmittedItem[] = [];
  readonly #directory: string;
  #bytes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async session(file: string): Promise<SessionsImportDocumentInput> {
    const info = record(await this.#json(file), file);
    const id = String(info.id);
    const folder = path.join(this.#directory, "message", segment(id));
    const messages = [];
    for (const name of await jsonFiles(folder)) {
      const message = await this.#optional(path.join(folder, name), path.basename(name, ".json"));
      if (message !== undefined) messages.push({ info: message, parts: await this.#parts(String(message.id)) });
    }
    return { info, messages };
  }

  async #parts(messageID: string) {
    const folder = path.join(this.#directory, "part", segment(messageID));
    const names = await jsonFiles(folder);
    const parts = [];
    for (let first = 0; first < names.length; first += CONCURRENCY) {
      const read = names
        .slice(first, first + CONCURRENCY)
        .map((name) => this.#optional(path.join(folder, name), messageID, path.basename(name, ".json")));
      parts.push(...(await Promise.all(read)));
    }
    return parts.filter((part) => part !== undefined);
  }

  /** Reads a file. A file that is not a JSON object is reported, and the import continues without it. */
  async #optional(file: string, messageID: string, partID?: string) {
    try {
      return record(await this.#json(file), file);
    } catch (error) {
      if (error instanceof RangeError) throw error;
      const place = partID === undefined ? { messageID } : { messageID, partID };
      this.omitted.push({ ...place, kind: "file", reason: (error as Error).message });
      return undefined;
    }
  }

  async #json(file: string): Promise<unknown> {
    this.#bytes += (await fs.promises.stat(file)).size;
    if (this.#bytes > MAX_BYTES) throw new RangeError(`The session has more than ${MAX_BYTES} bytes.`);
    const text = await fs.promises.readFile(file, "utf8");
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`The file ${file} is not JSON.`);
    }
  }
}

/** An id as a name of a folder. An id with another form would lead out of the folder. */
function segment(id: string) {
  if (!/^[\w-]+$/.test(id)) throw new Error(`The id ${JSON.stringify(id)} cannot be the name of a folder.`);
  return id;
}

function record(value: unknown, file: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`The file ${file} is not a JSON object.`);
}
