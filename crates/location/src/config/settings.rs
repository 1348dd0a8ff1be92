//! The keys with a single value. The value of the strongest document applies.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::decode::{
    Decoded, Invalid, boolean, bounded_texts, count, number, object, optional, wrong,
};
use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::document::Document;
use crate::environment::Environment;

/// The settings of one document.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SettingsPatch {
    pub shell: Option<String>,
    pub username: Option<String>,
    pub timezone: Option<TimeZone>,
    pub share: Option<Share>,
    pub snapshots: Option<bool>,
    pub image: ImagePatch,
    pub max_output_lines: Option<u64>,
    pub max_output_bytes: Option<u64>,
    pub compact_automatically: Option<bool>,
    pub prune: Option<bool>,
    pub keep_tokens: Option<u64>,
    pub buffer_tokens: Option<u64>,
    pub watcher_ignore: Vec<String>,
}

/// The settings of one document for attached images.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ImagePatch {
    pub auto_resize: Option<bool>,
    pub max_width: Option<u64>,
    pub max_height: Option<u64>,
    pub max_base64_bytes: Option<u64>,
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
    /// True if a snapshot of the worktree is taken around steps. Default: true.
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
    /// True if larger images are reduced, false if they are rejected. Default: true.
    pub auto_resize: bool,
    /// Maximum width in pixels. Default: 2000.
    pub max_width: u64,
    /// Maximum height in pixels. Default: 2000.
    pub max_height: u64,
    /// Maximum size in bytes of base64. Default: 5 MiB.
    pub max_base64_bytes: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self {
            auto_resize: true,
            max_width: 2000,
            max_height: 2000,
            max_base64_bytes: 5_242_880,
        }
    }
}

/// Limits of the Model Tool Output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolOutputLimits {
    /// Maximum number of lines. Default: 2000.
    pub max_lines: u64,
    /// Maximum number of bytes. Default: 50 KiB.
    pub max_bytes: u64,
}

impl Default for ToolOutputLimits {
    fn default() -> Self {
        Self {
            max_lines: 2000,
            max_bytes: 51_200,
        }
    }
}

/// Settings of the compaction of Session History.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// True if compaction starts automatically. Default: true.
    pub auto: bool,
    /// True if old tool results are removed from requests. Default: true.
    pub prune: bool,
    /// Number of tokens of the newest Session History that stay unchanged. Default: 8000.
    pub keep_tokens: u64,
    /// Number of tokens of the model's context window that stay free. Default: 20 000.
    pub buffer_tokens: u64,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            auto: true,
            prune: true,
            keep_tokens: 8_000,
            buffer_tokens: 20_000,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shell: None,
            username: None,
            timezone: None,
            share: Share::default(),
            snapshots: true,
            image: ImageLimits::default(),
            tool_output: ToolOutputLimits::default(),
            compaction: Compaction::default(),
            output_token_max: None,
            watcher_ignore: Vec::new(),
        }
    }
}

impl Settings {
    /// Combines the documents, weakest first.
    pub(super) fn of<'d>(documents: impl Iterator<Item = &'d Document>) -> Self {
        let mut settings = Self::default();
        for document in documents {
            settings.overlay(&document.settings);
        }
        settings
    }

    fn overlay(&mut self, over: &SettingsPatch) {
        set_some(&mut self.shell, over.shell.as_ref());
        set_some(&mut self.username, over.username.as_ref());
        set_some(&mut self.timezone, over.timezone.as_ref());
        set(&mut self.share, over.share);
        set(&mut self.snapshots, over.snapshots);
        set(&mut self.image.auto_resize, over.image.auto_resize);
        set(&mut self.image.max_width, over.image.max_width);
        set(&mut self.image.max_height, over.image.max_height);
        set(
            &mut self.image.max_base64_bytes,
            over.image.max_base64_bytes,
        );
        set(&mut self.tool_output.max_lines, over.max_output_lines);
        set(&mut self.tool_output.max_bytes, over.max_output_bytes);
        set(&mut self.compaction.auto, over.compact_automatically);
        set(&mut self.compaction.prune, over.prune);
        set(&mut self.compaction.keep_tokens, over.keep_tokens);
        set(&mut self.compaction.buffer_tokens, over.buffer_tokens);
        for ignored in &over.watcher_ignore {
            if !self.watcher_ignore.contains(ignored) {
                self.watcher_ignore.push(ignored.clone());
            }
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

fn set<T: Copy>(base: &mut T, over: Option<T>) {
    *base = over.unwrap_or(*base);
}

fn set_some<T: Clone>(base: &mut Option<T>, over: Option<&T>) {
    if over.is_some() {
        *base = over.cloned();
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
    match value {
        Value::Bool(true) => Ok(Share::Auto),
        Value::Bool(false) => Ok(Share::Manual),
        Value::String(name) => match name.as_str() {
            "manual" => Ok(Share::Manual),
            "auto" => Ok(Share::Auto),
            "disabled" => Ok(Share::Disabled),
            _ => Err(Invalid::new("must be \"manual\", \"auto\" or \"disabled\"")),
        },
        other => Err(wrong("a string", other)),
    }
}

/// Reads `autoshare`. Only `true` has an effect.
pub(super) fn autoshare(value: &Value, settings: &mut SettingsPatch) -> Decoded<()> {
    if boolean(value)? {
        settings.share = Some(Share::Auto);
    }
    Ok(())
}

/// Reads `attachments`. Its older name is `attachment`; drafts of the format call it `media`.
pub(super) fn attachments(value: &Value, settings: &mut SettingsPatch) -> Decoded<()> {
    optional(object(value)?, "image", |image| {
        let source = object(image)?;
        let known = &mut settings.image;
        set_some(
            &mut known.auto_resize,
            optional(source, "auto_resize", boolean)?.as_ref(),
        );
        for (name, slot) in [
            ("max_width", &mut known.max_width),
            ("max_height", &mut known.max_height),
            ("max_base64_bytes", &mut known.max_base64_bytes),
        ] {
            set_some(slot, optional(source, name, positive)?.as_ref());
        }
        Ok(())
    })?;
    Ok(())
}

/// Reads `tool_output`.
pub(super) fn tool_output(value: &Value, settings: &mut SettingsPatch) -> Decoded<()> {
    let source = object(value)?;
    settings.max_output_lines = optional(source, "max_lines", positive)?;
    settings.max_output_bytes = optional(source, "max_bytes", positive)?;
    Ok(())
}

/// Reads `compaction`. Two of its members also have older names.
pub(super) fn compaction(value: &Value, settings: &mut SettingsPatch) -> Decoded<()> {
    let source = object(value)?;
    settings.compact_automatically = optional(source, "auto", boolean)?;
    settings.prune = optional(source, "prune", boolean)?;
    let older = optional(source, "preserve_recent_tokens", count)?;
    let newer = optional(source, "keep", |keep| {
        optional(object(keep)?, "tokens", count)
    })?;
    settings.keep_tokens = newer.flatten().or(older);
    let older = optional(source, "reserved", count)?;
    settings.buffer_tokens = optional(source, "buffer", count)?.or(older);
    Ok(())
}

/// Reads `watcher`.
pub(super) fn watcher(value: &Value) -> Decoded<Vec<String>> {
    let ignored = optional(object(value)?, "ignore", bounded_texts)?;
    Ok(ignored.unwrap_or_default())
}

fn positive(value: &Value) -> Decoded<u64> {
    if number(value)? < 1.0 {
        return Err(Invalid::new("must be a number of at least 1"));
    }
    count(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(read: fn(&Value, &mut SettingsPatch) -> Decoded<()>, value: Value) -> SettingsPatch {
        let mut patch = SettingsPatch::default();
        read(&value, &mut patch).unwrap();
        patch
    }

    #[test]
    fn both_forms_configure_the_kept_part_of_compaction() {
        let none = SettingsPatch::default();
        assert_eq!(read(compaction, json!({})), none);
        let expected = SettingsPatch {
            compact_automatically: Some(false),
            prune: Some(true),
            keep_tokens: Some(12),
            buffer_tokens: Some(7),
            ..SettingsPatch::default()
        };
        let newer = json!({"auto": false, "prune": true, "keep": {"tokens": 12.9}, "buffer": 7});
        let older = json!({
            "auto": false, "prune": true, "preserve_recent_tokens": 12, "reserved": 7,
        });
        let both = json!({
            "auto": false, "prune": true, "keep": {"tokens": 12}, "preserve_recent_tokens": 1,
            "buffer": 7, "reserved": 1,
        });
        for value in [newer, older, both] {
            assert_eq!(read(compaction, value.clone()), expected, "{value}");
        }
    }

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
        assert_eq!(read(autoshare, json!(true)).share, Some(Share::Auto));
        assert_eq!(read(autoshare, json!(false)).share, None);
    }

    #[test]
    fn output_limits_are_at_least_one() {
        for (value, complaint) in [
            (
                json!({"max_lines": 0}),
                "max_lines must be a number of at least 1",
            ),
            (
                json!({"max_bytes": -1}),
                "max_bytes must be a number of at least 1",
            ),
            (
                json!({"max_bytes": "1"}),
                "max_bytes must be a number, found a string",
            ),
        ] {
            let error = tool_output(&value, &mut SettingsPatch::default()).unwrap_err();
            assert_eq!(error.to_string(), complaint);
        }
    }
}
