//! The option `log`.

use crate::vocabulary::{Default, Kind, Member, Named, Object, member};

static LEVEL: Named = Named {
    name: "LogLevel",
    doc: "The severity of an entry of the log.",
    kind: Kind::Words(&["error", "warn", "info", "debug", "trace"]),
};

/// The least severe level.
const LEAST: Kind = Kind::OneOf(&[Kind::Words(&["off"]), Kind::Named(&LEVEL)]);

/// The parts of a host that write to the log.
static TARGETS: Object = Object::unnamed(&[
    target("opencode::context"),
    target("opencode::downloads"),
    target("opencode::git"),
    target("opencode::guard"),
    target("opencode::handlers"),
    target("opencode::handles"),
    target("opencode::host"),
    target("opencode::llm"),
    target("opencode::location"),
    target("opencode::log"),
    target("opencode::mcp"),
    target("opencode::oauth"),
    target("opencode::protocol"),
    target("opencode::pty"),
    target("opencode::runtime"),
    target("opencode::server"),
    target("opencode::snapshots"),
    target("opencode::store"),
    target("opencode::tools"),
]);

const fn target(name: &'static str) -> Member {
    member(name, LEAST, "")
}

/// The log entries that the program receives, and their destination.
pub static LOG_OPTIONS: Object = Object::named(
    "LogOptions",
    "The log entries that the program receives, and their destination. Omitted members have their default.",
    &[
        member(
            "level",
            LEAST,
            "The least severe level.",
        )
        .default(Default::Text("warn")),
        member(
            "targets",
            Kind::written_with(
                "Readonly<Record<string, \"off\" | LogLevel | undefined>>",
                "membersOf",
                &TARGETS,
            ),
            "Other levels for some targets, such as `{ \"opencode::llm\": \"debug\" }`.",
        )
        .without("none"),
        member(
            "sink",
            Kind::written("((entry: LogEntry) => void)", "checkFunction"),
            "Receives each entry, in order, soon after the host logs it. `close` waits up to 5 seconds for the last call. The \
             function does not keep the process alive. If it throws, the entry is lost, and the process emits one warning with \
             the code `OPENCODE_LOG_SINK`. If it is too slow, the host drops entries and logs their number.",
        )
        .without(
            "process warnings with the code `OPENCODE_LOG`, the same one at most once a minute, and at most 30",
        ),
    ],
);
