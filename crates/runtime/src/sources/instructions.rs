//! The Context Sources of instruction files: `core/instructions`, `core/instructions-configured` and
//! `core/instructions-nested`.
//!
//! When one of its files changes, each source states all its files again, which replaces its earlier
//! statement. It also states when no file is left. Only the first source that covers a file states it.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use opencode_context::{Observation, Source};
use opencode_location::environment::Environment;
use opencode_location::instructions::{
    Found, InstructionFile, InstructionQuery, Instructions, Place,
};
use opencode_location::location::Location;
use serde::Deserialize;
use serde_json::{Value, json};

/// One read of all files, started by the first source that loads. `None` if it was cancelled.
type Reading = Shared<BoxFuture<'static, Option<Arc<Instructions>>>>;

/// The differences between the sources.
struct Kind {
    key: &'static str,
    /// Name of its instructions at the beginning of a sentence.
    name: &'static str,
    found: fn(&Instructions) -> &Found,
}

const GENERAL: Kind = Kind {
    key: "core/instructions",
    name: "General instructions",
    found: |instructions| &instructions.general,
};

const CONFIGURED: Kind = Kind {
    key: "core/instructions-configured",
    name: "Configured instructions",
    found: |instructions| &instructions.configured,
};

const NEARBY: Kind = Kind {
    key: "core/instructions-nested",
    name: "Instructions for a directory and what lies below it",
    found: |instructions| &instructions.nearby,
};

/// Instruction files of one kind.
pub(super) struct InstructionFiles {
    kind: Kind,
    observation: Reading,
}

/// The sources of the instruction files at a Location.
pub(super) struct FileSources {
    pub(super) general: InstructionFiles,
    pub(super) configured: InstructionFiles,
    pub(super) nearby: InstructionFiles,
}

impl FileSources {
    /// Returns the sources for one observation. `nearby` are directories below the Location to read.
    pub(super) fn at(
        location: &Arc<Location>,
        environment: &Arc<Environment>,
        nearby: &[PathBuf],
    ) -> Self {
        let observation = read_all(
            Arc::clone(location),
            Arc::clone(environment),
            nearby.to_vec(),
        );
        let source = |kind| InstructionFiles {
            kind,
            observation: observation.clone(),
        };
        Self {
            general: source(GENERAL),
            configured: source(CONFIGURED),
            nearby: source(NEARBY),
        }
    }
}

/// Reads all files in one blocking job: the handover to a thread costs more than reading a file.
fn read_all(
    location: Arc<Location>,
    environment: Arc<Environment>,
    nearby: Vec<PathBuf>,
) -> Reading {
    let observing = async move {
        let observe = move || {
            let wanted = InstructionQuery {
                configured: location.configuration.instructions(),
                nearby: &nearby,
            };
            Instructions::observe(&Place::of(&location, &environment), wanted)
        };
        let observed = opencode_log::spawn_blocking(observe).await;
        observed.ok().map(Arc::new)
    };
    observing.boxed().shared()
}

impl Source for InstructionFiles {
    fn key(&self) -> &str {
        self.kind.key
    }

    fn load(&self) -> BoxFuture<'_, Observation> {
        let observing = self.observation.clone().map(|observed| {
            let Some(observed) = observed else {
                return Observation::Unavailable("reading the files was cut off".to_owned());
            };
            match (self.kind.found)(&observed) {
                Ok(files) if files.is_empty() => Observation::Absent,
                Ok(files) => Observation::Present(json!(files)),
                Err(error) => Observation::Unavailable(error.to_string()),
            }
        });
        observing.boxed()
    }

    fn is_valid(&self, value: &Value) -> bool {
        Vec::<InstructionFile>::deserialize(value).is_ok()
    }

    fn baseline(&self, value: &Value) -> String {
        let files = Vec::<InstructionFile>::deserialize(value).unwrap_or_default();
        let each = files.iter().map(|file| self.text(file));
        each.collect::<Vec<_>>().join("\n\n")
    }

    fn update(&self, _previous: &Value, current: &Value) -> String {
        format!(
            "{}: what follows replaces everything told under this title before.\n\n{}",
            self.kind.name,
            self.baseline(current)
        )
    }

    fn removed(&self, _value: &Value) -> Option<String> {
        let name = self.kind.name;
        Some(format!(
            "{name}: nothing told under this title before applies any more."
        ))
    }
}

impl InstructionFiles {
    fn text(&self, file: &InstructionFile) -> String {
        format!("{} ({}):\n{}", self.kind.name, file.path, file.content)
    }
}
