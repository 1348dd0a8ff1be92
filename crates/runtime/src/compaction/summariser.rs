//! The model that writes summaries, and its requests.

use std::sync::Arc;

use opencode_llm::{HttpOverlay, LlmRequest, ResolvedModel, SystemPart};
use opencode_location::catalogue::{Cost, RequestDomains};

use super::parts::Part;
use crate::history::estimate::{Budget, request_tokens};

/// The model that writes the summaries of a session.
pub(crate) struct Summariser {
    pub(crate) model: Arc<ResolvedModel>,
    /// The prices of the model.
    pub(crate) cost: Cost,
    /// The text of the agent `compaction`, if it has one.
    pub(crate) system: Vec<SystemPart>,
    pub(crate) headers: Vec<(String, String)>,
    /// Settings of its requests.
    pub(crate) settings: RequestDomains,
    /// The budget of its requests, including the text of the agent.
    pub(crate) budget: Budget,
}

impl Summariser {
    /// Returns the budget of a request without the text of the agent.
    pub(super) fn budget(&self) -> Budget {
        if self.system.is_empty() || self.budget.window == 0 {
            return self.budget;
        }
        let own = request_tokens(&self.system, 0, 0);
        Budget {
            // 0 would mean that the window is unknown.
            window: self.budget.window.saturating_sub(own).max(1),
            ..self.budget
        }
    }

    /// Builds a request with one message, no tools, and an answer of bounded length.
    pub(super) fn request(&self, part: &Part) -> LlmRequest {
        let settings = self.settings.clone();
        let mut request = LlmRequest::new(Arc::clone(&self.model));
        request.system.clone_from(&self.system);
        request.messages = Arc::clone(&part.messages);
        request.generation = settings.generation;
        request.generation.max_tokens = Some(part.answer);
        request.provider_options = settings.provider_options;
        request.is_by_agent = true;
        request.http = HttpOverlay {
            headers: self.headers.clone(),
            body: settings.body,
            ..HttpOverlay::default()
        };
        request
    }
}
