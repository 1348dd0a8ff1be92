// The output of the scripts: colours if the terminal supports them, and a progress line.

const colours = (process.stdout.isTTY || process.env.FORCE_COLOR !== undefined) && process.env.NO_COLOR === undefined;
const live = process.stdout.isTTY && process.env.CI === undefined;

/** Seconds between two progress lines of a long task in a log, which cannot be overwritten. */
const SECONDS_BETWEEN_LINES = 15;

/** @param {number} code */
const style = (code) => (/** @type {string} */ text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const cyan = style(36);

/** @param {number} ms */
export function formatDuration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** @param {number} bytes */
export function formatSize(bytes) {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes.toFixed(0)} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`;
}

/**
 * Shows a progress line with the last text of a task, until the task ends.
 *
 * @param {string} title
 */
export function startProgress(title) {
  const began = performance.now();
  let lastText = "";
  let printedLines = 0;
  const show = () => {
    const took = performance.now() - began;
    if (live) {
      process.stdout.write(`\r\u001b[K${clip(`${title}  ${formatDuration(took)}  ${lastText}`)}`);
    } else if (took / 1000 >= (printedLines + 1) * SECONDS_BETWEEN_LINES) {
      printedLines = Math.floor(took / 1000 / SECONDS_BETWEEN_LINES);
      console.log(dim(`    ${formatDuration(took)}  ${lastText}`));
    }
  };
  if (!live) console.log(title);
  const timer = setInterval(show, live ? 100 : 1000);
  return {
    /** @param {string} line */
    say(line) {
      lastText = line.trim();
    },
    /** Ends the progress line and returns the duration in milliseconds. */
    end() {
      clearInterval(timer);
      if (live) process.stdout.write("\r\u001b[K");
      return performance.now() - began;
    },
  };
}

/** @param {string} text */
function clip(text) {
  const width = (process.stdout.columns || 80) - 1;
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}
