"use strict";

const { transportError } = require("./errors.js");

/**
 * @typedef {import("./internal.js").TextStream} TextStream
 */

/**
 * @template T
 * @typedef {import("./internal.js").Feed<T>} Feed
 */

/**
 * @template T
 * @typedef {import("./internal.js").Parser<T>} Parser
 */

/**
 * The elements of a body.
 *
 * @template T
 * @implements {Feed<T>}
 */
class ParsedBody {
  #body;
  #parser;

  /**
   * @param {TextStream} body
   * @param {Parser<T>} parser
   */
  constructor(body, parser) {
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

module.exports = { ParsedBody };
