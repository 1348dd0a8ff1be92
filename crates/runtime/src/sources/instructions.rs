//! The Context Sources of instruction files: `core/instructions`, `core/instructions-configured` and
//! `core/instructions-nested`.
//!
//! Each states its complete files when one of them changes, which replaces what it stated before,
//! and says when none is left. A file is told by the first of the sources that covers it.

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

/// One look at the disk, taken when the first source asks. None when it was cut off.
type Look = Shared<BoxFuture<'static, Option<Arc<Instructions>>>>;

/// What distinguishes the sources.
struct Kind {
    key: &'static str,
    /// What its instructions are called, at the beginning of a sentence.
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
    look: Look,
}

/// The sources of the instruction files at a Location.
pub(super) struct FileSources {
    pub(super) general: InstructionFiles,
    pub(super) configured: InstructionFiles,
    pub(super) nearby: InstructionFiles,
}

impl FileSources {
    /// For one observation. `nearby` are the directories below the Location to look into.
    pub(super) fn at(
        location: &Arc<Location>,
        environment: &Arc<Environment>,
        nearby: &[PathBuf],
    ) -> Self {
        let look = look(
            Arc::clone(location),
            Arc::clone(environment),
            nearby.to_vec(),
        );
        let source = |kind| InstructionFiles {
            kind,
            look: look.clone(),
        };
        Self {
            general: source(GENERAL),
            configured: source(CONFIGURED),
            nearby: source(NEARBY),
        }
    }
}

/// One blocking job for all files: handing over to a thread costs more than reading a file.
fn look(location: Arc<Location>, environment: Arc<Environment>, nearby: Vec<PathBuf>) -> Look {
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
        let observing = self.look.clone().map(|observed| {
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
        let each = files.iter().map(|file| self.told(file));
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
    fn told(&self, file: &InstructionFile) -> String {
        format!("{} ({}):\n{}", self.kind.name, file.path, file.content)
    }
}
