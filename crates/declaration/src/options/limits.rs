//! Limits of a host, of its requests, and of the work of sessions.

use crate::vocabulary::{Default, Kind, Member, Number, Object, member};

const fn count(name: &'static str, unit: &'static str, doc: &'static str) -> Member {
    member(name, Kind::Number(Number::from(1, unit).whole()), doc)
}

const fn counted(name: &'static str, unit: &'static str, default: u64, doc: &'static str) -> Member {
    count(name, unit, doc).default(Default::Number(default))
}

/// The option `limits`.
pub static LIMITS: Object = Object::named(
    "Limits",
    "Limits of a host.",
    &[
        counted(
            "inbox",
            "prompts",
            10_000,
            "Prompts of one session that are admitted and not yet promoted. With more, `sessions.prompt` rejects with \
             `SessionBacklogError` and stores nothing.",
        )
        .page("SessionBacklogError", "errors.md#sessionbacklogerror"),
        count("steerBatch", "prompts", "Steering prompts that the model gets together, between two Provider Turns.")
            .without("`inbox`"),
        counted("subagentDepth", "levels", 3, "Levels of child sessions below a session that no task created.")
            .page("Tasks", "tasks.md"),
        counted("subagents", "tasks", 8, "Tasks of one session that run at the same time."),
        counted(
            "toolCallsPerTurn",
            "calls",
            200,
            "Tool calls of one answer that run. A further call fails with the reason, which the model reads.",
        ),
        counted(
            "toolCallsAtOnce",
            "calls",
            32,
            "Tool calls of one answer that run at the same time. Further calls wait.",
        ),
    ],
);

/// The option `retry`.
pub static RETRY: Object = Object::named(
    "RetryPolicy",
    "The policy for requests that a provider temporarily refuses (rate limit, overload, internal failure) before any output. A \
     Provider Turn sends them again and records each wait as `session.next.retried`.",
    &[
        counted(
            "maxElapsedMs",
            "milliseconds",
            300_000,
            "Maximum time from the first request of a turn to its last one. If the provider asks for a longer wait, the turn \
             fails at once with a message that says so.",
        ),
        count("maxAttempts", "requests", "Maximum number of requests of one turn, the first one included.")
            .without("no limit except the time"),
        counted(
            "maxDelayMs",
            "milliseconds",
            30_000,
            "The longest wait if the provider states no time. Waits begin with 500 ms and double.",
        ),
    ],
);

/// The budget of sessions.
pub static BUDGET: Object = Object::named(
    "SessionBudget",
    "Limits on the work of sessions.",
    &[
        member("tokens", AMOUNT, "Tokens."),
        member("cost", Kind::Number(Number::from(0, "")), "Cost."),
        member("turns", AMOUNT, "Provider Turns."),
        member("durationMs", AMOUNT, "Milliseconds."),
    ],
)
.elsewhere();

const AMOUNT: Kind = Kind::Number(Number::from(0, "").whole());

/// The option `budgets`.
pub static BUDGETS: Object = Object::named(
    "Budgets",
    "Limits on the work of sessions. A session that has used up a budget pauses before its next Provider Turn, so the work can \
     exceed a limit by one turn. The pause is durable (`session.next.paused`), and prompts stay pending. To continue, set a \
     larger budget and call `sessions.resume`.",
    &[
        member(
            "session",
            Kind::Object(&BUDGET),
            "The budget of each session together with its child sessions. A session with a budget of its own \
             (`sessions.create({ budget })`, `sessions.update`) uses that one.",
        )
        .without("no limit"),
        member(
            "host",
            Kind::Object(&BUDGET),
            "The budget of all sessions together. It counts the work from the opening of the host on. `setBudget` replaces it.",
        )
        .without("no limit"),
    ],
);

const fn deadline(name: &'static str, doc: &'static str) -> Member {
    member(name, DEADLINE, doc).without("no limit")
}

const DEADLINE: Kind = Kind::OneOf(&[Kind::Number(Number::from(1, "milliseconds").whole()), Kind::False]);

/// The option `deadlines`.
pub static DEADLINES: Object = Object::named(
    "Deadlines",
    "Time limits for a provider, in milliseconds: whole numbers from 1 on, `false` for no limit.",
    &[
        deadline("connectMs", "Until the connection is established.").default(Default::Number(10_000)),
        deadline(
            "firstByteMs",
            "From the request to the headers of the answer. `headerTimeout` in the options of a provider overrides it.",
        ),
        deadline(
            "idleMs",
            "Between two pieces of the answer. `chunkTimeout` in the options of a provider overrides it.",
        ),
        deadline(
            "requestMs",
            "From one request to the end of its answer. `timeout` in the options of a provider overrides it.",
        ),
    ],
);
