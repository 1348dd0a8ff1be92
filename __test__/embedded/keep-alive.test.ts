import { keepAlive } from "../../dist/host/keep-alive.js";

/** A native host that works while `state.works` is true. */
function createNative() {
  const waiting: (() => void)[] = [];
  const state = { works: false, asked: 0 };
  const untilIdle = () => {
    state.asked += 1;
    return state.works ? new Promise<void>((resolve) => waiting.push(resolve)) : null;
  };
  /** Fulfils the pending promises. Promises that begin in the meantime wait for the next call. */
  const settle = async () => {
    for (const resolve of waiting.splice(0)) resolve();
    await new Promise(setImmediate);
  };
  return { native: { untilIdle } as never, state, waiting, settle };
}

test("an idle host holds no promise", () => {
  const { native, state, waiting } = createNative();
  const ask = keepAlive(native);
  ask();
  ask();
  expect({ ...state, waiting: waiting.length }).toEqual({ works: false, asked: 2, waiting: 0 });
});

test("a working host holds one promise for any number of calls", () => {
  const { native, state, waiting } = createNative();
  const ask = keepAlive(native);
  state.works = true;
  ask();
  ask();
  expect({ asked: state.asked, waiting: waiting.length }).toEqual({ asked: 1, waiting: 1 });
});

test("holds a promise for work that begins before the host reports that it is idle", async () => {
  const { native, state, waiting, settle } = createNative();
  const ask = keepAlive(native);
  state.works = true;
  ask();
  await settle();
  expect(waiting).toHaveLength(1);
  state.works = false;
  await settle();
  expect({ asked: state.asked, waiting: waiting.length }).toEqual({ asked: 3, waiting: 0 });
  // A later call starts again.
  state.works = true;
  ask();
  expect(waiting).toHaveLength(1);
});
