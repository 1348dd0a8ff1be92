// Results of tools, media and files of prompts, as careless programs send them.

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

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

const uri = (type: string, data: Uint8Array | string) => `data:${type};base64,${Buffer.from(data).toString("base64")}`;
const png = Buffer.from(PNG, "base64");
const WAV = Buffer.concat([Buffer.from("RIFF\u0024\0\0\0WAVEfmt "), Buffer.alloc(28)]);

/** Addresses of files of a prompt. The host may refuse some. */
export const FILES: readonly string[] = [
  uri("image/png", png),
  uri("image/gif", Buffer.from(GIF, "base64")),
  uri("image/jpeg", png),
  uri("application/pdf", png),
  uri("image/png", "%PDF-1.4\n%%EOF\n"),
  uri("application/pdf", "%PDF-1.4\n%%EOF\n"),
  uri("image/png", png.subarray(0, 40)),
  uri("image/png", Buffer.concat([png, Buffer.alloc(2_000_000)])),
  uri("image/png", ""),
  uri("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
  uri("image/heic", "ftypheic"),
  uri("audio/wav", WAV),
  uri("video/mp4", "ftypmp42"),
  uri("text/plain", ""),
  uri("text/plain", " \n"),
  uri("text/plain", "alpha \0 beta"),
  uri("text/plain", Buffer.from([0x61, 0xff, 0xfe, 0x62])),
  uri("text/html;charset=utf-16", Buffer.from("alpha", "utf16le")),
  uri("application/json", "{"),
  uri("application/x-unknown", png),
  uri("", png),
  uri("IMAGE/PNG", png),
  uri(" image/png ", png),
  "data:image/png;base64,%%%%",
  "data:image/png,plain",
  "data:text/plain,a%20b",
  "data:text/plain,%",
  "data:,",
  "data:",
  "data:;base64,",
  "file:///none.png",
  "file:///",
  "file://",
  "a.txt",
  "./a.txt",
  "none.txt",
  ".",
  "",
  "http://[",
  "\0",
];

function cycle() {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}
