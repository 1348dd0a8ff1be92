// Draws the output of a program in a terminal as an SVG: selectable text, shown at the speed of the recording.

/**
 * @typedef {object} Chunk A piece of output.
 * @property {number} ms Time of the output since the start of the recording.
 * @property {string} text May contain line feeds and colours, and no other control sequences.
 *
 * @typedef {object} Recording
 * @property {string} title A description of the picture for readers who cannot see it.
 * @property {string} command The command line that the user typed.
 * @property {readonly Chunk[]} chunks In the order of printing.
 * @property {number} [columns] Width of the terminal in characters. Default: 98.
 *
 * @typedef {{ ms: number, style: string, text: string }} Run Characters of one line that share style and time.
 */

const FONT_SIZE = 14;
const LINE_HEIGHT = 20;
/** Width of a character in most monospaced fonts, relative to the font size. */
const ASPECT = 0.602;
const PADDING = 20;
/** Height of the title bar of the window. */
const BAR = 36;

/** CSS classes for the colours of `scripts/lib/terminal.mjs`, by their ANSI code. */
const STYLES = new Map([
  ["1", "bold"],
  ["2", "dim"],
  ["31", "red"],
  ["32", "green"],
  ["36", "cyan"],
]);

const ESCAPE = "\u001b";
/** A change of style, or a character. */
const TOKENS = new RegExp(`${ESCAPE}\\[[\\d;]*m|[^]`, "gu");

const CSS = [
  `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dde5;white-space:pre}`,
  ".bold{font-weight:bold;fill:#fff}",
  ".dim{fill:#8b96a5}",
  ".red{fill:#ff8077}",
  ".green{fill:#5fd38d}",
  ".cyan{fill:#5cc8ff}",
  // A span is hidden during its animation. A viewer without animations shows the end of the recording.
  "@keyframes wait{from,to{opacity:0}}",
  "tspan[style]{animation-name:wait;animation-timing-function:step-end}",
  "@media (prefers-reduced-motion:reduce){tspan[style]{animation-name:none}}",
].join("");

/**
 * @param {Recording} recording
 * @returns {string} The whole SVG document.
 */
export function renderTerminal({ title, command, chunks, columns = 98 }) {
  const typed = { ms: 0, text: `\u001b[36m$\u001b[0m \u001b[1m${command}\u001b[0m\n\n` };
  const lines = layOut([typed, ...chunks], columns);
  const width = Math.ceil(columns * FONT_SIZE * ASPECT) + 2 * PADDING;
  const height = BAR + lines.length * LINE_HEIGHT + PADDING;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escape(title)}</title>`,
    `<style>${CSS}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#151b23"/>`,
    ...["#ff5f57", "#febc2e", "#28c840"].map(
      (fill, at) => `<circle cx="${PADDING + at * 18}" cy="18" r="5" fill="${fill}"/>`,
    ),
    ...lines.flatMap((runs, at) => drawLine(runs, BAR + (at + 1) * LINE_HEIGHT - 6)),
    "</svg>",
    "",
  ].join("\n");
}

/**
 * @param {readonly Run[]} runs
 * @param {number} y
 */
function drawLine(runs, y) {
  if (runs.length === 0) return [];
  return [`<text x="${PADDING}" y="${y}" xml:space="preserve">${runs.map(drawRun).join("")}</text>`];
}

/** @param {Run} run */
function drawRun({ ms, style, text }) {
  const name = style === "" ? "" : ` class="${style}"`;
  const delay = ms === 0 ? "" : ` style="animation-duration:${(ms / 1000).toFixed(2)}s"`;
  return `<tspan${name}${delay}>${escape(text)}</tspan>`;
}

/**
 * The lines of the terminal at the end. A line that is too long continues in the next one, as in a terminal.
 *
 * @param {readonly Chunk[]} chunks
 * @param {number} columns
 * @returns {Run[][]}
 */
function layOut(chunks, columns) {
  /** @type {Run[][]} */
  const lines = [[]];
  let column = 0;
  let style = "";
  const breakLine = () => {
    lines.push([]);
    column = 0;
  };
  for (const { ms, text } of chunks) {
    for (const token of text.match(TOKENS) ?? []) {
      if (token.startsWith(`${ESCAPE}[`)) {
        style = readStyle(token);
      } else if (token === "\n") {
        breakLine();
      } else {
        if (/\p{Cc}/u.test(token))
          throw new Error(`A recording cannot contain the control character ${JSON.stringify(token)}`);
        if (column === columns) breakLine();
        append(/** @type {Run[]} */ (lines.at(-1)), { ms, style, text: token });
        column += 1;
      }
    }
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/**
 * @param {Run[]} line
 * @param {Run} run
 */
function append(line, run) {
  const last = line.at(-1);
  if (last !== undefined && last.style === run.style && last.ms === run.ms) last.text += run.text;
  else line.push(run);
}

/** @param {string} sequence */
function readStyle(sequence) {
  const code = sequence.slice(2, -1);
  if (code === "0") return "";
  const style = STYLES.get(code);
  if (style === undefined)
    throw new Error(`A recording cannot contain the control sequence ${JSON.stringify(sequence)}`);
  return style;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
