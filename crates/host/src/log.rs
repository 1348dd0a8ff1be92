//! The log of the host: the settings of the program, and the entries without secrets.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_log::{Entries, Entry, EntryLocation, Filter, Level, Log};
use opencode_secrets::{REDACTED, Redactor, Secrets, is_secret_name};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use crate::options::{HostOptions, RemoteOption};

/// The entries that the program receives.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogOptions {
    /// The level of all targets.
    pub level: LevelOption,
    /// Levels of single targets.
    #[serde(default)]
    pub targets: BTreeMap<String, LevelOption>,
}

/// A level, or no entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LevelOption {
    /// No entry.
    Off,
    /// Errors.
    Error,
    /// Warnings, too.
    Warn,
    /// Information, too.
    Info,
    /// Details for finding defects, too.
    Debug,
    /// Everything.
    Trace,
}

impl LevelOption {
    fn level(self) -> Option<Level> {
        Some(match self {
            Self::Off => return None,
            Self::Error => Level::Error,
            Self::Warn => Level::Warn,
            Self::Info => Level::Info,
            Self::Debug => Level::Debug,
            Self::Trace => Level::Trace,
        })
    }
}

/// The log of one host. A clone is the same log.
#[derive(Clone)]
pub struct HostLog {
    log: Log,
    known: Arc<KnownSecrets>,
}

/// Batches of log entries for the program.
pub struct LogBatches {
    entries: Entries,
    known: Arc<KnownSecrets>,
}

impl HostLog {
    /// Creates a log with these options, and the stream of its entries.
    #[must_use]
    pub fn new(options: LogOptions) -> (Self, LogBatches) {
        let targets = options.targets.into_iter();
        let targets = targets.map(|(target, level)| (target, level.level()));
        let filter = Filter::new(options.level.level(), targets.collect());
        let (log, entries) = Log::new(filter);
        let known = Arc::<KnownSecrets>::default();
        let batches = LogBatches {
            entries,
            known: Arc::clone(&known),
        };
        (Self { log, known }, batches)
    }

    /// Creates a log without entries.
    #[must_use]
    pub fn off() -> Self {
        Self {
            log: Log::off(),
            known: Arc::default(),
        }
    }

    /// The log itself.
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Redacts the secrets in the options of the host in all entries.
    pub(crate) fn learn_options(&self, options: &HostOptions) {
        let mut secrets = Secrets::default();
        if let Some(key) = &options.api_key {
            secrets.learn_credential(key);
        }
        if let Some(url) = &options.base_url {
            secrets.learn_url(url);
            secrets.learn_path(url, "");
        }
        if let Some(Value::Object(members)) = &options.config {
            secrets.learn_members(members);
        }
        for server in &options.remote_config {
            if let RemoteOption::Server { headers, .. } = server {
                let values = headers.values();
                values.for_each(|value| secrets.learn_credential(value));
            }
        }
        for (name, value) in &options.env {
            match is_secret_name(name) {
                true => secrets.learn_credential(value),
                false => secrets.learn_url(value),
            }
        }
        self.known.learn(&secrets);
    }

    /// Returns a function that adds the secrets of each opened Location.
    pub(crate) fn secrets_learner(&self) -> Arc<dyn Fn(&Secrets) + Send + Sync> {
        let known = Arc::clone(&self.known);
        Arc::new(move |secrets| known.learn(secrets))
    }

    /// Adds a warning about a function of the program.
    pub(crate) fn warn(&self, message: &str, fields: &str) {
        let mut entry = Entry::new(Level::Warn, "opencode::handlers", message);
        entry.fields = serde_json::from_str(fields).unwrap_or_default();
        entry.session_id = text(entry.fields.remove("sessionID"));
        let directory = text(entry.fields.remove("directory"));
        entry.location = directory.map(|directory| EntryLocation { directory });
        self.log.record(entry);
    }

    /// Accepts no more entries.
    pub fn end(&self) {
        self.log.end();
    }
}

impl LogBatches {
    /// Returns the next entries as a JSON array. Waits for at least one. `None` is the end.
    pub async fn next(&self) -> Option<String> {
        let mut entries = self.entries.next().await?;
        let redactor = self.known.redactor();
        for entry in &mut entries {
            redact(&redactor, entry);
        }
        Some(serde_json::to_string(&entries).expect("an entry is plain data"))
    }
}

fn text(value: Option<Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn redact(redactor: &Redactor, entry: &mut Entry) {
    entry.message = redactor.text(&entry.message);
    for (name, value) in &mut entry.fields {
        match value {
            _ if is_secret_name(name) => *value = REDACTED.into(),
            Value::String(text) => *text = redactor.text(text),
            other => redactor.clean_value(other),
        }
    }
    if let Some(location) = &mut entry.location {
        redactor.clean(&mut location.directory);
    }
}

/// The secrets that are redacted in entries.
#[derive(Default)]
struct KnownSecrets {
    /// Held to learn or to take a redactor, never across an await.
    known: Mutex<(Secrets, Redactor)>,
}

impl KnownSecrets {
    fn learn(&self, secrets: &Secrets) {
        let mut known = self.known.lock();
        if known.0.learn_all(secrets) {
            known.1 = known.0.of_failures();
        }
    }

    fn redactor(&self) -> Redactor {
        let known = self.known.lock();
        known.1.clone()
    }
}
