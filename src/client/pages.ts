import type { Operation } from "./operation.js";
import type { Page } from "./types.js";

/**
 * The first Page of a list, which can be iterated. The first request is sent at once; the iteration requests each
 * further Page when its caller has taken all items of the Page before.
 */
export function createPages<T, P extends Page<T>>(
  { continuation = [] }: Operation,
  input: object,
  request: (input: object) => Promise<P>,
): Promise<P> & AsyncIterable<T> {
  const first = request(input);

  async function* items(): AsyncGenerator<T, void, undefined> {
    let page: Page<T> = await first;
    while (page.items.length > 0) {
      yield* page.items;
      if (page.next === undefined) return;
      page = await request({ ...pick(input, continuation), cursor: page.next });
    }
  }

  return Object.assign(first, { [Symbol.asyncIterator]: items });
}

function pick(input: object, names: readonly string[]) {
  return Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name)));
}
