//! The YAML front matter of a Markdown file.

use std::borrow::Cow;

use serde_json::{Map, Value};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Error, MessageFormatter as _, UserMessageFormatter};

use super::tree::Yaml;
use super::unquoted::quote;
use crate::config::{Node, Position, Repeats};

/// Maximum size of front matter in bytes. It contains settings, not long texts.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// A text, split at the end of its front matter.
#[derive(Debug, PartialEq)]
pub(super) enum Cut<'t> {
    /// The text does not begin with a line of dashes.
    Absent,
    /// The text begins with a line of dashes, but a second one is missing.
    Open,
    /// The text begins with TOML between two lines `+++`.
    Toml,
    /// The front matter and the text below it.
    Parts {
        /// The lines between the two lines of dashes, below as many blank lines as precede the first of these.
        front: Cow<'t, str>,
        /// The text after the second line of dashes.
        body: &'t str,
    },
}

/// The reason why front matter cannot be read.
#[derive(Debug, PartialEq)]
pub(super) struct YamlError {
    /// The problem.
    pub message: String,
    /// The position in the file, if known.
    pub position: Option<Position>,
}

/// Splits a text: the front matter is between a first line `---` and the next such line. Blanks and HTML comments may
/// precede it, the first line may name the language, and both may have more dashes.
pub(super) fn cut(text: &str) -> Cut<'_> {
    let begun = beginning(text);
    let mut lines = begun.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() == TOML_FENCE {
        let is_toml = lines.any(|line| line.trim_end() == TOML_FENCE);
        return if is_toml { Cut::Toml } else { Cut::Absent };
    }
    if !is_first_fence(first) {
        return Cut::Absent;
    }
    let lines_before = text[..text.len() - begun.len()].matches('\n').count();
    let mut at = first.len();
    for line in lines {
        if is_fence(line.trim_end()) {
            let front = &begun[first.len()..at];
            return Cut::Parts {
                front: match lines_before {
                    0 => Cow::Borrowed(front),
                    lines => Cow::Owned("\n".repeat(lines) + front),
                },
                body: &begun[at + line.len()..],
            };
        }
        at += line.len();
    }
    Cut::Open
}

const TOML_FENCE: &str = "+++";

/// Returns the text without the blanks and comments at its beginning.
fn beginning(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest
        .strip_prefix("<!--")
        .and_then(|it| it.split_once("-->"))
    {
        rest = behind.trim_start();
    }
    rest
}

fn is_first_fence(line: &str) -> bool {
    let line = line.trim_end();
    let dashes = ["yaml", "yml", "json"]
        .iter()
        .find_map(|language| line.strip_suffix(language));
    is_fence(dashes.unwrap_or(line).trim_end())
}

fn is_fence(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Parses front matter. Front matter with only blanks and comments has no fields.
///
/// Authors often write texts such as `description: Use it when: something breaks` without quotes, which is not
/// valid YAML. If parsing fails, such texts get quotes and the front matter is parsed once more.
pub(super) fn parse(front: &str) -> Result<(Map<String, Value>, Repeats<Position>), YamlError> {
    if front.len() > MAX_BYTES {
        let message = format!("The front matter is larger than {MAX_BYTES} bytes");
        let position = None;
        return Err(YamlError { message, position });
    }
    match read(front)
        .or_else(|error| read(&quote(front, &|fields| read(fields).is_ok())).map_err(|_| error))
    {
        Ok(tree @ Node::Object(_)) => {
            let repeats = tree.repeats();
            match tree.last() {
                Value::Object(fields) => Ok((fields, repeats)),
                _ => Ok((Map::new(), repeats)),
            }
        }
        Ok(Node::Plain(Value::Null)) => Ok((Map::new(), Repeats::default())),
        Ok(_) => Err(YamlError {
            message: "The front matter must be fields, each as `name: value`".to_owned(),
            position: Some(below_fence(1, 1)),
        }),
        Err(error) => Err(describe(&error)),
    }
}

/// True if front matter needs no repair.
#[cfg(test)]
pub(super) fn is_yaml(front: &str) -> bool {
    read(front).is_ok()
}

/// Returns the position of a field in the file, if the field is at the start of a line.
pub(super) fn position_of(front: &str, field: &str) -> Option<Position> {
    let names_field = |line: &str| {
        let line = line.trim_start_matches(['"', '\'']);
        let behind = line.strip_prefix(field)?;
        let behind = behind.trim_start_matches(['"', '\'', ' ']);
        behind.starts_with(':').then_some(())
    };
    let place = front.lines().position(|line| names_field(line).is_some())?;
    Some(below_fence(place as u64 + 1, 1))
}

/// Converts a position in the front matter to a position in the file.
pub(super) fn below_fence(line: u64, column: u64) -> Position {
    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Position {
        line: count(line + 1),
        column: count(column),
    }
}

fn read(front: &str) -> Result<Node<Position>, Box<Error>> {
    let options = serde_saphyr::options! {
        // More than settings need, and little enough that parsing is fast.
        budget: serde_saphyr::budget! {
            max_nodes: 10_000,
            max_events: 50_000,
            max_anchors: 100,
            max_aliases: 1_000,
            max_depth: 32,
            flow_nesting_limit: 32,
            max_total_scalar_bytes: 4 * MAX_BYTES,
            max_recorded_anchor_bytes: 4 * MAX_BYTES,
            max_recorded_anchor_events: 10_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
        },
        // Same as in JSON documents: the last one holds, and the earlier ones restrict.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        // A skill can have the name `on`, which must stay a text.
        strict_booleans: true,
        with_snippet: false,
    };
    let read: Result<Yaml, _> = serde_saphyr::from_str_with_options(front, options);
    read.map(|Yaml(node)| node).map_err(Box::new)
}

/// Maximum length of a reason in characters. The reason may repeat a part of the file.
const MAX_REASON: usize = 200;

fn describe(error: &Error) -> YamlError {
    let mut cause = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = cause {
        cause = error;
    }
    let message = match cause {
        Error::Budget { .. } | Error::AliasReplayLimitExceeded { .. } => {
            "The front matter has more fields or references than settings need".to_owned()
        }
        other => {
            let reason = UserMessageFormatter.format_message(other);
            let printable = reason.chars().filter(|it| !it.is_control());
            let reason: String = printable.take(MAX_REASON).collect();
            format!("The front matter is not YAML: {reason}")
        }
    };
    let position = error.location();
    YamlError {
        message,
        position: position.map(|place| below_fence(place.line(), place.column())),
    }
}
