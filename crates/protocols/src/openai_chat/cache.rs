//! Cache marks for models of Anthropic at OpenRouter. It takes them on texts only, so the mark of the system text also
//! covers the tools before it.

use opencode_llm::canonical::model::{CompatibleServer, ResolvedModel};

use crate::body::InsertedBytes;

const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;

/// Positions in the conversation that are marked, in bytes.
#[derive(Clone, Default)]
pub(super) struct Places {
    /// The end of the system text.
    pub(super) system: Option<usize>,
    /// The end of the last text of the newest prompt.
    pub(super) user: Option<usize>,
}

impl Places {
    /// Returns the marks of a request.
    pub(super) fn marks(&self) -> InsertedBytes {
        let places = [self.system, self.user].into_iter().flatten();
        InsertedBytes {
            text: places.map(|at| (at, MARK)).collect(),
            tool: None,
        }
    }
}

/// True for a model that needs marks to cache a request.
pub(super) fn is_marked(server: Option<CompatibleServer>, model: &ResolvedModel) -> bool {
    server == Some(CompatibleServer::OpenRouter) && model.id.to_lowercase().contains("claude")
}
