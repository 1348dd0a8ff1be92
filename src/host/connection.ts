import { onAbort } from "../client/abort.js";
import { ClientError } from "../client/errors.js";
import { HOST_CLOSED, taggedError, transportError } from "../client/failures.js";
import { encodeJson } from "../client/request.js";
import { checkValues } from "./checks.js";
import { keepAlive } from "./keep-alive.js";
import type { TextStream } from "../client/internal.js";
import type { PermissionRequest, QuestionRequest } from "../index.js";
import type { NativeAttendance, NativeHost, NativeListener } from "./native-types.js";
import type { ProgramNotice } from "./program.js";

// Numbers of calls have 32 bits and repeat. No call lives that long.
const LAST_CALL = 0xffffffff;

/** `url` is path and query. */
type RequestHead = { method: string; url: string; headers: [string, string][] };

/** `isInLines` says that the body is a large answer: first the answer with an empty `data`, then arrays with its elements. */
type ResponseHead = { status: number; headers: [string, string][]; isInLines?: true };

export type NativeResponse = ResponseHead & { body: string | Uint8Array<ArrayBuffer> | TextStream };

/** The requests of the host that functions of the program answer, by the native method that delivers them. */
interface HostRequests {
  askedPermissions: PermissionRequest;
  askedQuestions: QuestionRequest;
}

/** Answers requests of one kind. */
export interface Attendant<Request extends { id: unknown }> {
  asked(request: Request): void;
  ended(id: Request["id"]): void;
}

/** Hosts that listen. This set keeps them alive if the program drops the host and the listener. */
const listening: Set<NativeConnection> = new Set();

/** A kind of what a program registers. */
export type RegistrationKind = "tool" | "contextSource" | "provider" | "hook" | "environment";

/** The native host with objects instead of texts. It knows if it is closed. Its failures are ClientErrors. */
export class NativeConnection {
  #native;
  #staysAlive;
  #settled;
  #listeners: Set<NativeListener> = new Set();
  #closing: Promise<void> | undefined = undefined;
  #lastCall = 0;

  /**
   * @param native A host that was just opened.
   * @param staysAlive True if the process stays alive while a session works or a listener listens.
   */
  constructor(native: NativeHost, staysAlive: boolean) {
    this.#native = native;
    this.#staysAlive = staysAlive;
    this.#settled = staysAlive ? keepAlive(native) : () => {};
    this.#settled();
  }

  /**
   * Sends a request. Requests are admitted in the order of the calls, because nothing is awaited before the native
   * call.
   *
   * An abort also cancels the call in the native host. Otherwise its pending answer would keep the process alive.
   */
  async send(head: RequestHead, body: string | null, signal?: AbortSignal): Promise<NativeResponse> {
    if (this.#closing !== undefined) throw closedError();
    const call = signal === undefined ? 0 : (this.#lastCall = (this.#lastCall % LAST_CALL) + 1);
    const release = signal === undefined ? undefined : onAbort(signal, () => this.#native.cancel(call));
    try {
      const answer = await this.#native.request(JSON.stringify(head), body, call);
      if (typeof answer === "string") return readFinished(answer);
      // A copy, because a Buffer has other methods than the bytes of a network answer.
      return { ...readHead(answer.head), body: "bytes" in answer ? new Uint8Array(answer.bytes) : answer };
    } catch (error) {
      throw transportError(error);
    } finally {
      release?.();
      this.#settled();
    }
  }

  /** @param options JSON. */
  async listen(options: string): Promise<NativeListener> {
    if (this.#closing !== undefined) throw closedError();
    const opened = await this.#native.listen(options);
    if (this.#closing !== undefined) throw closedError();
    if (typeof opened === "string") throw taggedError(JSON.parse(opened));
    this.#listeners.add(opened);
    listening.add(this);
    // A pending promise keeps the process alive.
    if (this.#staysAlive) void opened.closed().then(() => this.#forget(opened));
    return opened;
  }

  /**
   * Calls back with each request of one kind, and with the id of each request that ends. It does not keep the process
   * alive.
   */
  attend<Kind extends keyof HostRequests>(kind: Kind, attendant: Attendant<HostRequests[Kind]>): NativeAttendance {
    if (this.#closing !== undefined) throw closedError();
    return this.#native[kind]((text) => {
      const notice = JSON.parse(text);
      if ("asked" in notice) attendant.asked(notice.asked);
      else attendant.ended(notice.ended);
    });
  }

  /** Calls back with each notice about a call of a function of the program. It does not keep the process alive. */
  attendCalls(receive: (notice: ProgramNotice) => void): NativeAttendance {
    if (this.#closing !== undefined) throw closedError();
    return this.#native.programCalls((notices) => {
      for (const notice of JSON.parse(notices) as ProgramNotice[]) receive(notice);
    });
  }

  /** @param message JSON. */
  answer(call: number, message: string) {
    this.#native.answer(call, message);
  }

  /** Returns the number of what is registered, which is unique in its kind. Throws a tagged failure. */
  register(kind: RegistrationKind, definition: object, directory?: string): number {
    if (this.#closing !== undefined) throw closedError();
    const registered = this.#native.register(kind, encodeDefinition(definition), directory ?? null);
    if (typeof registered === "string") throw taggedError(JSON.parse(registered));
    return registered;
  }

  unregister(kind: RegistrationKind, number: number) {
    this.#native.unregister(kind, number);
  }

  /** Begins the recovery of interrupted sessions that the options chose. */
  beginRecovery() {
    if (this.#closing === undefined) this.#native.beginRecovery();
    this.#settled();
  }

  /** @param directory Null is the directory of requests without a directory. */
  async trust(directory: string | null, trusted: boolean) {
    if (this.#closing !== undefined) throw closedError();
    const failure = await this.#native.trust(directory, trusted).catch((error) => {
      throw transportError(error);
    });
    if (failure !== null) throw taggedError(JSON.parse(failure));
  }

  /** Replaces the budget of the host. Returns a tagged failure as JSON. */
  setBudget(limits: string) {
    return this.#native.setBudget(limits);
  }

  /**
   * Writes a warning about a function of the program to the log.
   *
   * @param fields `sessionID` and `directory` name the session and the Location.
   */
  warn(message: string, fields: Record<string, unknown>) {
    this.#native.warn(message, JSON.stringify(fields));
  }

  async closeListener(listener: NativeListener) {
    try {
      await listener.close();
    } catch (error) {
      throw transportError(error);
    } finally {
      this.#forget(listener);
    }
  }

  /** Work that clients have started may keep the process alive from now on. */
  #forget(listener: NativeListener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) listening.delete(this);
    this.#settled();
  }

  /** Ends all streams and calls, and resolves when the file is closed. Only the first call closes the host. */
  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    try {
      await this.#native.close();
    } catch (error) {
      throw transportError(error);
    } finally {
      listening.delete(this);
    }
  }
}

/** Encodes a definition of the program. Throws a tagged failure if JSON would change or omit one of its values. */
function encodeDefinition(definition: object) {
  checkValues("", definition);
  return encodeJson(definition);
}

function readFinished(answer: string): NativeResponse {
  const end = answer.indexOf("\n");
  return { ...readHead(answer.slice(0, end)), body: answer.slice(end + 1) };
}

function readHead(text: string): ResponseHead {
  return JSON.parse(text);
}

function closedError() {
  return new ClientError("Transport", { cause: Object.assign(new Error("The host is closed"), { code: HOST_CLOSED }) });
}
