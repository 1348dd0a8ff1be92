// Warnings of models, such as a setting that the model does not support.

/** Maximum number of different warnings of one provider. */
const MAX_WARNINGS = 100;

/** The warnings of one provider. A model repeats its warnings in every answer, and each is read once. */
export class Warnings {
  #known: Set<string> = new Set();

  /** Returns the texts of new warnings. */
  read(warnings: readonly unknown[] = []): string[] {
    const texts = warnings.map(describe);
    return texts.filter((text) => {
      const isNew = !this.#known.has(text) && this.#known.size < MAX_WARNINGS;
      if (isNew) this.#known.add(text);
      return isNew;
    });
  }
}

/** The members of a warning differ between the versions of the interface. */
function describe(warning: unknown): string {
  const { type, setting, feature, message, details } = (warning ?? {}) as Readonly<Record<string, unknown>>;
  const parts = [type, setting ?? feature, message ?? details];
  const text = parts.filter((part) => typeof part === "string").join(": ");
  return text === "" ? "a warning without a text" : text;
}
