/** A promise with its settling functions. A rejection without a handler is ignored. */
export function deferred(): {
  promise: Promise<undefined>;
  resolve: (value: undefined) => void;
  reject: (error: unknown) => void;
} {
  let resolve: (value: undefined) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise: Promise<undefined> = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
