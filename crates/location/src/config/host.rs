//! The configuration of the embedding program: a document, and the model that it chose, with key and
//! address.

use std::path::{Path, PathBuf};

use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_secrets::Secret;
use serde_json::Value;

use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::document::{Document, Located};
use super::patch::{ApiPatch, ProviderPatch};
use super::source::Source;
use crate::config::options::API_KEY;
use crate::config::remote::RemoteDocuments;
use crate::environment::CommandEnvironment;
use crate::secret::{BaseUrl, Members};

/// The name of these options in diagnostics.
const OPTIONS: &str = "the host's options model, apiKey and baseURL";

/// The configuration of the embedding program.
#[derive(Clone, Default)]
pub struct HostConfiguration {
    /// A document. It is stronger than the discovered documents.
    pub config: Option<Value>,
    /// A document with the keys that are options of their own. It is stronger than `config`.
    pub keys: Option<Value>,
    /// The model that the program chose. It is stronger than the document.
    pub model: Option<HostModel>,
    /// Rules that no other rule can loosen. An `ask` rule asks every time.
    pub ceiling: Vec<PermissionRule>,
    /// The documents of servers. They are weaker than all others.
    pub remote: RemoteDocuments,
    /// The directory of an administrator, whose documents are stronger than all others.
    pub managed: Option<PathBuf>,
    /// The rules for the environment variables of processes.
    pub command_environment: CommandEnvironment,
}

impl From<Option<Value>> for HostConfiguration {
    fn from(config: Option<Value>) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }
}

/// The model that the embedding program chose. A document does not need to describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostModel {
    /// The model of sessions that choose none.
    pub model: ModelRef,
    /// The key of its provider.
    pub api_key: Option<Secret>,
    /// The address of its provider.
    pub base_url: Option<BaseUrl>,
}

impl HostModel {
    /// Returns these settings as the strongest document.
    pub(super) fn document(&self, base: &Path) -> Document {
        let mut body = Members::default();
        if let Some(key) = &self.api_key {
            body.insert(API_KEY.to_owned(), key.expose().into());
        }
        let provider = ProviderPatch {
            api: ApiPatch {
                url: self.base_url.clone(),
                ..ApiPatch::default()
            },
            body,
            ..ProviderPatch::default()
        };
        Document {
            origin: OPTIONS.to_owned(),
            base: base.to_owned(),
            source: Source::Host,
            model: Some(Located {
                value: self.model.clone(),
                position: None,
            }),
            providers: vec![(self.model.provider_id.clone(), provider)],
            ..Document::default()
        }
    }

    /// Removes the addresses of the provider from a document that the program did not give. The
    /// program's key must not be sent to a server that a file of the project chose.
    pub(super) fn withhold_addresses(&self, document: &mut Document) -> Option<Diagnostic> {
        let option = match (&self.api_key, &self.base_url) {
            _ if document.source == Source::Host => return None,
            (_, Some(_)) => "the option baseURL holds",
            (Some(_), None) => {
                "the option apiKey is sent only to an address of the option baseURL, of the option config, or of the provider itself"
            }
            (None, None) => return None,
        };
        let id = &self.model.provider_id;
        let mut withheld = false;
        for (_, provider) in document.providers.iter_mut().filter(|(it, _)| it == id) {
            withheld |= provider.api.url.take().is_some();
            for (_, model) in &mut provider.models {
                withheld |= model.api.url.take().is_some();
            }
        }
        let message = format!("The address of the provider {id} has no effect: {option}");
        withheld.then(|| Diagnostic::new(&document.origin, DiagnosticKind::Ignored, message, None))
    }
}
