import { EventParser } from "../../dist/client/sse.js";
import { isClientError } from "../../dist/client/index.js";
import { createRandom, pick } from "../random.js";

// `npm run fuzz` sets a higher number.
const CASES = Number(process.env.FUZZ_CASES ?? 2_000);

const LINE_ENDS = ["\n", "\r", "\r\n"];
const FAILURE = "effect/httpapi/stream/failure";

/** Complete lines that streams contain, must not contain, or that resemble others. */
const LINES = [
  'data: {"a":1}',
  'data:{"a":"é🙂\u2028"}',
  "data: {",
  "data: }",
  'data:  {"b":[1,2]}',
  "data",
  "data:",
  "data: 1",
  "data: null",
  'data: {"__proto__":{"a":1}}',
  'database: {"a":1}',
  'Data: {"a":1}',
  ' data: {"a":1}',
  "event: message",
  `event: ${FAILURE}`,
  `event:${FAILURE}`,
  "event",
  "event:",
  "id: 7",
  "retry: 5",
  ": heartbeat",
  ":",
  "\ufeffdata: {}",
  "\0",
  "",
  "",
  "",
];

type Outcome = readonly unknown[];

/** The elements of a text that arrives in pieces, followed by the failure, if any. */
function parse(pieces: readonly string[]): Outcome {
  const parser = new EventParser();
  const outcome: unknown[] = [];
  const drain = () => {
    for (let element = parser.next(); element !== undefined; element = parser.next()) outcome.push(element);
  };
  try {
    for (const piece of pieces) {
      parser.push(piece);
      drain();
    }
    parser.end();
    drain();
  } catch (error) {
    if (!isClientError(error)) throw error;
    outcome.push(error.reason);
  }
  return outcome;
}

/** The same result, computed from the complete text. */
function expected(text: string): Outcome {
  const outcome: unknown[] = [];
  let data: string[] = [];
  let name = "";
  for (const line of [...text.split(/\r\n|\r|\n/), ""]) {
    const [, field, value = ""] = /^(\w+)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (field === "data") data.push(value);
    if (field === "event" && line.includes(":")) name = value;
    if (line !== "") continue;
    if (data.length > 0) {
      const element = read(data.join("\n"));
      if (name === FAILURE) return [...outcome, element === undefined ? "MalformedResponse" : "Transport"];
      if (typeof element !== "object" || element === null) return [...outcome, "MalformedResponse"];
      outcome.push(element);
    }
    [data, name] = [[], ""];
  }
  return outcome;
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Cuts a text at random positions, also in the middle of a line end. */
function cut(text: string, random: () => number) {
  const pieces: string[] = [];
  for (let rest = text; rest !== "";) {
    const length = Math.floor(random() * 12);
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return pieces;
}

test("parses streams the same in every notation and with every cut", () => {
  const random = createRandom(1);
  for (let round = 0; round < CASES; round += 1) {
    const lines = Array.from({ length: Math.floor(random() * 14) }, () => pick(random, LINES));
    const text = lines.map((line) => line + pick(random, LINE_ENDS)).join("");
    const pieces = cut(text, random);
    expect({ pieces, outcome: parse(pieces) }).toEqual({ pieces, outcome: expected(text) });
  }
});

test("reads or refuses characters in any order", () => {
  const random = createRandom(2);
  const characters = [...'datevn:: {}[]"\\1,\n\n\n\r\r\0é🙂\ud800', ...LINES];
  for (let round = 0; round < CASES; round += 1) {
    const text = Array.from({ length: Math.floor(random() * 40) }, () => pick(random, characters)).join("");
    const pieces = cut(text, random);
    expect({ pieces, outcome: parse(pieces) }).toEqual({ pieces, outcome: expected(text) });
  }
});
