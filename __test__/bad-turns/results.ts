// Results of tools and media, as careless programs return them.

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

const image = (data: unknown, mediaType: unknown = "image/png") => ({ content: [{ type: "image", data, mediaType }] });

export const RESULTS: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  "",
  " \n\t",
  "\u200b",
  "text",
  "\ud800 half",
  "\u0000",
  "x".repeat(200_000),
  [],
  {},
  { content: [] },
  { content: "" },
  { content: null },
  { content: [{ type: "text", text: "" }] },
  {
    content: [
      { type: "text", text: " " },
      { type: "text", text: "" },
    ],
  },
  { content: [{ type: "text" }] },
  { content: [{ type: "video", text: "x" }] },
  { structured: { a: [1, { b: null }] } },
  image(PNG),
  image(GIF),
  image(PNG, "image/jpg"),
  image(PNG, "application/pdf"),
  image(PNG, "text/plain"),
  image(Buffer.from("this is no image").toString("base64")),
  image(Buffer.from(PNG, "base64").subarray(0, 40).toString("base64")),
  image("%%%%"),
  image(""),
  image(Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(2_000_000)])),
  image(new Uint8Array(0)),
  image(`data:image/png;base64,${PNG}`),
  image(PNG, ""),
  image(PNG, 1),
  image(7),
  { content: [{ type: "file", data: PNG, mediaType: "application/octet-stream" }] },
  { content: [{ type: "file", data: "SGk=", mediaType: "text/plain", filename: "../../a\u0000.txt" }] },
  new Error("an error as a value"),
  new Date(Number.NaN),
  () => 1,
  Symbol("s"),
  10n,
  cycle(),
  Promise.resolve("late"),
];

function cycle() {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}
