"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Activity = void 0;
/**
 * The work on one prompt: from its promotion to the first step after which the model needs no result. A prompt with
 * the delivery `steer` joins this work and does not end it. A step after the end answers another prompt.
 *
 * A pure reducer over durable events.
 */
class Activity {
    #messageID;
    #steps = [];
    #cost = 0;
    #usage = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
    /** The sequence of the newest applied event. */
    seq;
    isPromoted = false;
    end = undefined;
    /**
     * @param messageID The id of the prompt.
     * @param seq The sequence of its admission.
     */
    constructor(messageID, seq) {
        this.#messageID = messageID;
        this.seq = seq;
    }
    /** The assistant messages, oldest first. */
    get messageIDs() {
        return this.#steps.map(({ messageID }) => messageID);
    }
    /** The text of the newest step with a text. */
    get text() {
        const spoken = this.#steps.findLast(({ texts }) => texts.size > 0);
        return spoken === undefined ? "" : [...spoken.texts.values()].join("");
    }
    get usage() {
        return { ...this.#usage, cache: { ...this.#usage.cache } };
    }
    get cost() {
        return this.#cost;
    }
    /** True if a user declined a request of the newest step, which ends the work. */
    get isDeclined() {
        return this.#steps.at(-1)?.declined ?? false;
    }
    /** True if a call of the newest step was interrupted. */
    get isInterrupted() {
        return this.#steps.at(-1)?.interrupted ?? false;
    }
    /** Applies the next event. Returns true if it belongs to the work on the prompt. */
    apply(event) {
        // Two connections may deliver the same event.
        if (this.end !== undefined || event.durable.seq <= this.seq)
            return false;
        this.seq = event.durable.seq;
        return this.isPromoted ? this.#work(event) : this.#wait(event);
    }
    #wait(event) {
        if (event.type === "session.next.prompt.withdrawn" && event.data.messageID === this.#messageID) {
            this.end = { outcome: "not-started", reason: "The prompt was withdrawn before the session took it" };
            return true;
        }
        this.isPromoted = event.type === "session.next.prompted" && event.data.messageID === this.#messageID;
        return this.isPromoted;
    }
    #work(event) {
        switch (event.type) {
            case "session.next.prompt.admitted":
            case "session.next.prompted":
            case "session.next.prompt.withdrawn":
            case "session.next.prompt.redelivered":
                return false;
            case "session.next.step.started":
                this.#steps.push({
                    messageID: event.data.assistantMessageID,
                    calls: 0,
                    declined: false,
                    interrupted: false,
                    texts: new Map(),
                });
                return true;
            case "session.next.interrupted":
                this.end = { outcome: "interrupted" };
                return true;
            default:
                if ("assistantMessageID" in event.data)
                    this.#step(event);
                return true;
        }
    }
    #step(event) {
        const step = this.#steps.at(-1);
        if (step === undefined)
            return;
        switch (event.type) {
            case "session.next.text.ended":
                step.texts.set(event.data.textID, event.data.text);
                break;
            case "session.next.tool.called":
                if (!event.data.provider.executed)
                    step.calls += 1;
                break;
            case "session.next.tool.failed":
                step.declined ||= event.data.error.cause?.kind === "declined";
                step.interrupted ||= event.data.error.cause?.kind === "interrupted";
                break;
            case "session.next.step.ended":
                this.#count(event.data);
                if (step.calls === 0)
                    this.end = { outcome: "completed" };
                break;
            case "session.next.step.failed":
                this.end = endOf(event.data.error, step);
                break;
            default:
        }
    }
    #count({ cost, tokens }) {
        this.#cost += cost;
        this.#usage.input += tokens.input;
        this.#usage.output += tokens.output;
        this.#usage.reasoning += tokens.reasoning;
        this.#usage.cache.read += tokens.cache.read;
        this.#usage.cache.write += tokens.cache.write;
    }
}
exports.Activity = Activity;
/** @param error The failure of the step. */
function endOf({ message, cause }, step) {
    if (cause?.kind === "interrupted")
        return { outcome: step.declined ? "declined" : "interrupted" };
    return { outcome: "failed", error: cause === undefined ? { message } : { message, cause } };
}
