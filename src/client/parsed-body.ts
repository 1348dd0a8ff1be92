import { transportError } from "./failures.js";
import type { Feed, Parser, TextStream } from "./internal.js";

/** The elements of a body. */
export class ParsedBody<T> implements Feed<T> {
  #body;
  #parser;

  constructor(body: TextStream, parser: Parser<T>) {
    this.#body = body;
    this.#parser = parser;
  }

  take() {
    return this.#parser.next();
  }

  async more() {
    const text = await this.#read();
    if (text === null) this.#parser.end();
    else this.#parser.push(text);
    return text !== null;
  }

  cancel() {
    this.#body.cancel();
  }

  async #read() {
    try {
      return await this.#body.next();
    } catch (error) {
      throw transportError(error);
    }
  }
}
