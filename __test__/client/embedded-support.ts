import { openHost } from "../../dist/host/host.js";

type Head = { method: string; url: string; headers: [string, string][] };

/** A native host that answers with `answer` and records the requests. */
export function createFakeNative(answer: (head: Head, body: string | null) => unknown) {
  const requests: (Head & { body: string | null })[] = [];
  const opened: unknown[] = [];
  const cancelled: number[] = [];
  let closes = 0;
  const native = {
    async request(head: string, body: string | null, _call: number) {
      requests.push({ ...JSON.parse(head), body });
      return answer(JSON.parse(head), body);
    },
    cancel(call: number) {
      cancelled.push(call);
    },
    beginRecovery() {},
    untilIdle(): Promise<void> | null {
      return null;
    },
    async close() {
      closes += 1;
    },
  };
  const addon = {
    async open(options: string) {
      opened.push(JSON.parse(options));
      return native;
    },
  };
  return { addon, native, requests, opened, cancelled, closes: () => closes };
}

export async function openTestHost(answer: (head: Head, body: string | null) => unknown) {
  const fake = createFakeNative(answer);
  const host = (await openHost({ env: {} }, () => fake.addon as never)) as any;
  return { ...fake, host };
}

export function finished(body: string, status = 200, headers = [["content-type", "application/json"]]) {
  return `${JSON.stringify({ status, headers })}\n${body}`;
}

/** An answer with a binary body. */
export function finishedBytes(bytes: number[], status = 200, headers = [["content-type", "image/png"]]) {
  return { head: JSON.stringify({ status, headers }), bytes: Buffer.from(bytes) };
}

/** A body that the test fills piece by piece. */
export function openBody(contentType = "text/event-stream") {
  const texts: (string | null | Error)[] = [];
  const state = { cancelled: false, pulls: 0 };
  let wake = () => {};
  const add = (text: string | null | Error) => {
    texts.push(text);
    wake();
  };
  const body = {
    head: JSON.stringify({ status: 200, headers: [["content-type", contentType]] }),
    async next() {
      state.pulls += 1;
      while (texts.length === 0 && !state.cancelled) await new Promise<void>((resolve) => (wake = resolve));
      const text = state.cancelled ? null : (texts.shift() as string | null | Error);
      if (text instanceof Error) throw text;
      return text;
    },
    cancel() {
      state.cancelled = true;
      wake();
    },
  };
  return { body, state, send: add, end: () => add(null), fail: add };
}
