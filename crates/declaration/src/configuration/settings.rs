//! Objects whose members are single values.

use crate::vocabulary::{Default, Kind, Member, Number, Object, member};

const fn number(name: &'static str, number: Number, default: u64, doc: &'static str) -> Member {
    member(name, Kind::Number(number), doc).default(Default::Number(default))
}

pub(super) static COMPACTION: Object = Object::named(
    "CompactionConfig",
    "When and how a long Session History is replaced by a summary.",
    &[
        member("auto", Kind::Boolean, "True if it happens automatically.").default_is(true),
        member("prune", Kind::Boolean, "True if old tool output is removed from requests before that.")
            .default_is(true)
            .page("Prefix", "prefix.md"),
        member("keep", Kind::Object(&KEPT), "The part of the newest history that stays in full."),
        number("buffer", Number::of("tokens"), 20_000, "The part of the model's window that stays free."),
        member("preserve_recent_tokens", Kind::Number(Number::of("tokens")), "").replaced_by("keep.tokens"),
        member("reserved", Kind::Number(Number::of("tokens")), "").replaced_by("buffer"),
    ],
);

static KEPT: Object =
    Object::unnamed(&[number("tokens", Number::of("tokens"), 8_000, "The newest history that stays in full.")]);

pub(super) static TOOL_OUTPUT: Object = Object::named(
    "ToolOutputConfig",
    "Limits of the tool output that a model receives.",
    &[
        number("max_lines", Number::from(1, "lines"), 2_000, "The longest output that a model receives."),
        number("max_bytes", Number::from(1, "bytes"), 51_200, "The largest output that a model receives."),
    ],
);

pub(super) static ATTACHMENTS: Object = Object::named(
    "AttachmentsConfig",
    "Limits of the images of a conversation, whatever their origin.",
    &[member("image", Kind::Object(&IMAGE), "Limits of each image.")],
);

static IMAGE: Object = Object::unnamed(&[
    member(
        "auto_resize",
        Kind::Boolean,
        "True if a larger image is scaled down. If false, the tool returns its size instead.",
    )
    .default_is(true),
    number("max_width", Number::from(1, "pixels"), 2_000, "The largest width."),
    number("max_height", Number::from(1, "pixels"), 2_000, "The largest height."),
    number("max_base64_bytes", Number::from(1, "bytes"), 5_242_880, "The largest size as base64."),
]);

pub(super) static WATCHER: Object = Object::unnamed(&[member(
    "ignore",
    Kind::List { of: &Kind::Text, most: Some(super::document::MAX_TEXTS) },
    "Paths and globs whose changes are not reported. This version watches no files for it.",
)]);
