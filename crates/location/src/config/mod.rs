//! Configuration: which documents speak for a directory, and what each of them says.
//!
//! Documents stay apart, weakest first. There is no merged configuration object: each consumer
//! reduces the documents by its own rule, as the catalogue does with providers. A document that
//! cannot be used is left out alone, and a [`Diagnostic`] says so.

mod agent;
mod compaction;
mod decode;
mod discovery;
mod document;
mod jsonc;
mod patch;
mod provider_v1;
mod provider_v2;
mod selection;

use serde_json::Value;

pub use document::{Diagnostic, DiagnosticKind, Document, MAX_DOCUMENT_BYTES};
pub use selection::parse_model;

pub(crate) use agent::AgentPatch;
pub(crate) use decode::{Decoded, count, elements, number, text, wrong};
pub(crate) use document::NamedModel;
pub(crate) use patch::{ApiPatch, ModelPatch, ProviderPatch, VariantPatch};

use crate::environment::Environment;
use crate::project::Project;

/// The usable documents of a directory and what is wrong with the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configuration {
    /// The documents, weakest first.
    pub documents: Vec<Document>,
    /// What was dropped or has no effect, in the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
}

impl Configuration {
    /// Reads every document for a directory in normal form. Blocks on the disk.
    ///
    /// `host` is the configuration the embedding program gave itself; it is the strongest.
    pub fn load(
        environment: &Environment,
        project: &Project,
        directory: &str,
        host: Option<&Value>,
    ) -> Self {
        let mut configuration = Self::default();
        for layer in discovery::layers(environment, project, directory) {
            let read = document::read(&layer, &mut configuration.diagnostics);
            configuration.documents.extend(read);
        }
        if let Some(value) = host {
            let read = document::of_value(value, &mut configuration.diagnostics);
            configuration.documents.extend(read);
        }
        configuration
    }

    /// Tokens of the newest Session History that a compaction leaves as it is.
    pub fn keep_tokens(&self) -> u64 {
        let said = self.documents.iter().rev().find_map(|it| it.keep_tokens);
        said.unwrap_or(compaction::KEEP_TOKENS)
    }
}
