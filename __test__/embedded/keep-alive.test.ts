import { keepAlive } from "../../embedded/keep-alive.js";

/** A native host that works as long as it is told to. */
function createNative() {
  const waiting: (() => void)[] = [];
  const state = { works: false, asked: 0 };
  const untilIdle = () => {
    state.asked += 1;
    return state.works ? new Promise<void>((resolve) => waiting.push(resolve)) : null;
  };
  /** Fulfils what is pending; what was begun meanwhile is for the next question. */
  const settle = async () => {
    for (const resolve of waiting.splice(0)) resolve();
    await new Promise(setImmediate);
  };
  return { native: { untilIdle } as never, state, waiting, settle };
}

test("an idle host holds nothing", () => {
  const { native, state, waiting } = createNative();
  const ask = keepAlive(native);
  ask();
  ask();
  expect({ ...state, waiting: waiting.length }).toEqual({ works: false, asked: 2, waiting: 0 });
});

test("a host that works holds one promise, however often it is asked", () => {
  const { native, state, waiting } = createNative();
  const ask = keepAlive(native);
  state.works = true;
  ask();
  ask();
  expect({ asked: state.asked, waiting: waiting.length }).toEqual({ asked: 1, waiting: 1 });
});

test("what began before the host was told of its idleness is held, too", async () => {
  const { native, state, waiting, settle } = createNative();
  const ask = keepAlive(native);
  state.works = true;
  ask();
  await settle();
  expect(waiting).toHaveLength(1);
  state.works = false;
  await settle();
  expect({ asked: state.asked, waiting: waiting.length }).toEqual({ asked: 3, waiting: 0 });
  // And it begins anew.
  state.works = true;
  ask();
  expect(waiting).toHaveLength(1);
});
