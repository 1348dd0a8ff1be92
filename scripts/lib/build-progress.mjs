// The progress of a cargo build, and an estimate of the remaining time.

/** Before this time no estimate is possible. */
const SILENT_MS = 3000;

/**
 * The compile time of a crate of this project relative to a library. Measured: the libraries are many and small, the
 * crates of this project are few and large, and cargo compiles them last.
 */
const OWN_WEIGHT = 8;

/**
 * @typedef {object} ArtifactMessage A line of cargo for a target that is ready. It has more members than these.
 * @property {string} reason
 * @property {string} package_id
 * @property {{ kind: string[] }} target
 * @property {boolean} fresh True if an earlier build made it.
 */

export class BuildProgress {
  /** @type {Set<string>} */
  #ready = new Set();
  #readyWeight = 0;
  #compiledWeight = 0;
  #total = 0;
  #totalWeight = 0;
  #lastWeight;
  #beganMs = 0;
  #heardMs = 0;

  /** @param {number} [lastWeight] The weight of the last crate, which a release build optimises as a whole. */
  constructor(lastWeight = OWN_WEIGHT) {
    this.#lastWeight = lastWeight;
  }

  /**
   * Starts the measurement. Earlier work such as downloads is not part of the estimate.
   *
   * @param {number} nowMs
   */
  begin(nowMs) {
    this.#beganMs = nowMs;
  }

  /**
   * Sets the packages of the build.
   *
   * @param {string} tree Lines of `cargo tree --prefix none --no-dedupe -f {p}`, such as `bytes v1.11.0`.
   */
  expect(tree) {
    const names = tree.split("\n").map((line) => line.replace(/ \((?:\*|proc-macro)\)/g, "").trim());
    const packages = [...new Set(names.filter((name) => name !== ""))];
    this.#total = packages.length;
    const own = packages.filter((name) => / \(.+\)$/.test(name)).length;
    this.#totalWeight = packages.length - own + Math.max(0, own - 1) * OWN_WEIGHT + this.#lastWeight;
  }

  /**
   * Counts the package of a message.
   *
   * @param {ArtifactMessage} message
   * @param {number} nowMs
   */
  hear({ package_id: id, target, fresh }, nowMs) {
    // A build script is a part of its package, which is ready later.
    if (target.kind.includes("custom-build") || this.#ready.has(id)) return;
    this.#ready.add(id);
    const weight = this.#weigh(id, target);
    this.#readyWeight += weight;
    if (fresh) return;
    this.#compiledWeight += weight;
    this.#heardMs = nowMs - this.#beganMs;
  }

  /**
   * @param {string} id
   * @param {{ kind: string[] }} target
   */
  #weigh(id, { kind }) {
    if (!id.startsWith("path+")) return 1;
    return kind.includes("cdylib") ? this.#lastWeight : OWN_WEIGHT;
  }

  /**
   * A text such as `143 of 267 crates, about 1 min 40 s left`.
   *
   * @param {number} nowMs
   */
  describe(nowMs) {
    if (this.#total === 0) return `${this.#ready.size} crates`;
    const crates = `${this.#ready.size} of ${this.#total} crates`;
    const leftMs = this.#estimateMs(nowMs);
    return leftMs === undefined ? crates : `${crates}, ${formatLeft(leftMs)}`;
  }

  /**
   * Milliseconds. Assumes that the remaining weight takes as long as the weight that was compiled until the last
   * message, and subtracts the time since then.
   *
   * @param {number} nowMs
   */
  #estimateMs(nowMs) {
    const tookMs = nowMs - this.#beganMs;
    if (tookMs < SILENT_MS || this.#compiledWeight === 0) return undefined;
    const restMs = ((this.#totalWeight - this.#readyWeight) * this.#heardMs) / this.#compiledWeight;
    return restMs - (tookMs - this.#heardMs);
  }
}

/** @param {number} ms */
export function formatLeft(ms) {
  if (ms < 5000) return "a few seconds left";
  const step = ms < 60_000 ? 5 : 10;
  const seconds = Math.ceil(ms / 1000 / step) * step;
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  const parts = [...(minutes > 0 ? [`${minutes} min`] : []), ...(rest > 0 ? [`${rest} s`] : [])];
  return `about ${parts.join(" ")} left`;
}
