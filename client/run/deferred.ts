/** A promise and what settles it. Its rejection concerns only callers that await it. */
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
