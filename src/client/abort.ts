interface Watch {
  callbacks: Set<() => void>;
  listener: () => void;
}

const watches: WeakMap<AbortSignal, Watch> = new WeakMap();

/**
 * Calls back when the signal aborts, unless the caller calls the returned function before.
 *
 * A caller's signal may live as long as the process and serve thousands of calls, and Node warns if a signal has more
 * than ten listeners. So a signal has one listener for all its calls, and none without a call.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const watch = watches.get(signal) ?? startWatch(signal);
  watch.callbacks.add(callback);
  return () => {
    if (watch.callbacks.delete(callback) && watch.callbacks.size === 0) endWatch(signal, watch);
  };
}

function startWatch(signal: AbortSignal): Watch {
  const watch: Watch = {
    callbacks: new Set(),
    listener() {
      endWatch(signal, watch);
      for (const callback of watch.callbacks) callback();
    },
  };
  signal.addEventListener("abort", watch.listener);
  watches.set(signal, watch);
  return watch;
}

function endWatch(signal: AbortSignal, watch: Watch) {
  signal.removeEventListener("abort", watch.listener);
  watches.delete(signal);
}
