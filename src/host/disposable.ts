// Node 20.0 to 20.4 lack the symbols of `using` and `await using`. There the objects have their methods alone.

/** Lets `using` dispose of an object. */
export function disposable<T extends object>(target: T, dispose: () => void): T & Disposable {
  if (Symbol.dispose === undefined) return target as T & Disposable;
  return Object.assign(target, { [Symbol.dispose]: dispose });
}

/** An object for `await using`. */
interface Closable {
  [Symbol.asyncDispose](): Promise<void>;
}

/** Lets `await using` close an object. */
export function asyncDisposable<T extends object>(target: T, close: () => Promise<void>): T & Closable {
  if (Symbol.asyncDispose === undefined) return target as T & Closable;
  return Object.assign(target, { [Symbol.asyncDispose]: close });
}
