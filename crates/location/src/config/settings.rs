//! The keys with a single value. The value of the strongest document applies.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::decode::{Decoded, Invalid, wrong};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::document::Document;
use super::values::{Values, word};
use crate::environment::Environment;

/// The settings of one document.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SettingsPatch {
    /// Values that are read as they are declared.
    pub values: Values,
    pub timezone: Option<TimeZone>,
    pub share: Option<Share>,
}

/// The combined settings of the documents of a directory and the switches of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The shell for commands. `None` for the default of the machine.
    pub shell: Option<String>,
    /// The name of the user. `None` if no document sets it.
    pub username: Option<String>,
    /// The time zone of the user. `None` for that of the host.
    pub timezone: Option<TimeZone>,
    /// The sharing mode of sessions. Default: [`Share::Manual`].
    pub share: Share,
    /// True if a snapshot of the worktree is taken around steps.
    pub snapshots: bool,
    /// Limits of attached images.
    pub image: ImageLimits,
    /// Limits of the Model Tool Output.
    pub tool_output: ToolOutputLimits,
    /// Settings of the compaction of Session History.
    pub compaction: Compaction,
    /// Upper limit of the tokens of an answer, if the environment sets it.
    pub output_token_max: Option<u64>,
    /// Paths and globs, from all documents, whose changes are not reported.
    pub watcher_ignore: Vec<String>,
}

/// The sharing mode of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// The user shares individual sessions.
    #[default]
    Manual,
    /// Every session is shared when it starts.
    Auto,
    /// Sessions cannot be shared.
    Disabled,
}

/// Limits of attached images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageLimits {
    /// True if larger images are reduced, false if they are rejected.
    pub auto_resize: bool,
    /// Maximum width in pixels.
    pub max_width: u64,
    /// Maximum height in pixels.
    pub max_height: u64,
    /// Maximum size in bytes of base64.
    pub max_base64_bytes: u64,
}

impl ImageLimits {
    fn of(values: &Values) -> Self {
        Self {
            auto_resize: values.boolean("attachments.image.auto_resize"),
            max_width: values.number("attachments.image.max_width"),
            max_height: values.number("attachments.image.max_height"),
            max_base64_bytes: values.number("attachments.image.max_base64_bytes"),
        }
    }
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// Limits of the Model Tool Output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolOutputLimits {
    /// Maximum number of lines.
    pub max_lines: u64,
    /// Maximum number of bytes.
    pub max_bytes: u64,
}

impl ToolOutputLimits {
    fn of(values: &Values) -> Self {
        Self {
            max_lines: values.number("tool_output.max_lines"),
            max_bytes: values.number("tool_output.max_bytes"),
        }
    }
}

impl Default for ToolOutputLimits {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

/// Settings of the compaction of Session History.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// True if compaction starts automatically.
    pub auto: bool,
    /// True if old tool results are removed from requests.
    pub prune: bool,
    /// Number of tokens of the newest Session History that stay unchanged.
    pub keep_tokens: u64,
    /// Number of tokens of the model's context window that stay free.
    pub buffer_tokens: u64,
}

impl Compaction {
    fn of(values: &Values) -> Self {
        Self {
            auto: values.boolean("compaction.auto"),
            prune: values.boolean("compaction.prune"),
            keep_tokens: values.number("compaction.keep.tokens"),
            buffer_tokens: values.number("compaction.buffer"),
        }
    }
}

impl Default for Compaction {
    fn default() -> Self {
        Self::of(&Values::default())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(std::iter::empty())
    }
}

impl Settings {
    /// Combines the documents, weakest first.
    pub(super) fn of<'d>(documents: impl Iterator<Item = &'d Document>) -> Self {
        let mut combined = SettingsPatch::default();
        for Document { settings, .. } in documents {
            combined.values.overlay(&settings.values);
            combined.timezone = settings.timezone.clone().or(combined.timezone);
            combined.share = settings.share.or(combined.share);
        }
        let SettingsPatch {
            values,
            timezone,
            share,
        } = combined;
        Self {
            shell: values.text("shell"),
            username: values.text("username"),
            timezone,
            share: share.unwrap_or_default(),
            snapshots: values.boolean("snapshots"),
            image: ImageLimits::of(&values),
            tool_output: ToolOutputLimits::of(&values),
            compaction: Compaction::of(&values),
            output_token_max: None,
            watcher_ignore: values.texts("watcher.ignore"),
        }
    }

    /// Returns the tokens of an answer for which a request asks, and which compaction reserves. `asked` is the configured
    /// number, and `limit` that of the model.
    pub fn answer_tokens(&self, asked: Option<u64>, limit: u64) -> u64 {
        match asked {
            Some(asked) => asked.min(self.output_token_max.unwrap_or(asked)),
            None => limit.min(self.usual_output()),
        }
    }

    /// Returns the upper limit of the tokens of an answer for which nothing is configured.
    pub fn usual_output(&self) -> u64 {
        const USUAL: u64 = 32_000;
        self.output_token_max.unwrap_or(USUAL)
    }

    /// Applies the switches of the environment, which override every document.
    pub(super) fn switch(&mut self, environment: &Environment, diagnostics: &mut Vec<Diagnostic>) {
        if environment.flag("OPENCODE_DISABLE_AUTOCOMPACT") {
            self.compaction.auto = false;
        }
        if environment.flag("OPENCODE_DISABLE_PRUNE") {
            self.compaction.prune = false;
        }
        if environment.flag("OPENCODE_AUTO_SHARE") {
            self.share = Share::Auto;
        }
        const OUTPUT_TOKENS: &str = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX";
        let Some(value) = environment.variable(OUTPUT_TOKENS) else {
            return;
        };
        match value.parse() {
            Ok(tokens) if tokens > 0 => self.output_token_max = Some(tokens),
            _ => diagnostics.push(Diagnostic::new(
                OUTPUT_TOKENS,
                DiagnosticKind::Ignored,
                "The variable has no effect: it must be a whole number of at least 1".to_owned(),
                None,
            )),
        }
    }
}

/// Reads `timezone`: the name of a zone in the zone database. Blocks on the disk, because the database may be there.
pub(super) fn timezone(value: &Value) -> Decoded<TimeZone> {
    let Value::String(name) = value else {
        return Err(wrong("a string", value));
    };
    TimeZone::get(name).map_err(|_| {
        Invalid::new("must be the name of a time zone, such as \"Europe/Oslo\" or \"UTC\"")
    })
}

/// Reads `share`. In old documents, `true` stands for `auto` and `false` for `manual`.
pub(super) fn share(value: &Value) -> Decoded<Share> {
    if let Value::Bool(is_shared) = value {
        return Ok(if *is_shared {
            Share::Auto
        } else {
            Share::Manual
        });
    }
    let word = word(&["manual", "auto", "disabled"], value)?;
    Ok(match word.as_str() {
        "auto" => Share::Auto,
        "disabled" => Share::Disabled,
        _ => Share::Manual,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_spelling_of_sharing_is_read() {
        for (value, expected) in [
            (json!("manual"), Ok(Share::Manual)),
            (json!("auto"), Ok(Share::Auto)),
            (json!("disabled"), Ok(Share::Disabled)),
            (json!(true), Ok(Share::Auto)),
            (json!(false), Ok(Share::Manual)),
            (
                json!("no"),
                Err("The document must be \"manual\", \"auto\" or \"disabled\""),
            ),
            (
                json!(1),
                Err("The document must be a string, found a number"),
            ),
        ] {
            let found = share(&value).map_err(|invalid| invalid.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{value}");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_declaration() {
        let settings = Settings::default();
        assert!(settings.snapshots && settings.image.auto_resize);
        assert!(settings.compaction.auto && settings.compaction.prune);
        let numbers = [
            settings.compaction.keep_tokens,
            settings.compaction.buffer_tokens,
            settings.tool_output.max_lines,
            settings.tool_output.max_bytes,
            settings.image.max_width,
            settings.image.max_height,
            settings.image.max_base64_bytes,
        ];
        assert_eq!(
            numbers,
            [8_000, 20_000, 2_000, 51_200, 2_000, 2_000, 5_242_880]
        );
    }
}
