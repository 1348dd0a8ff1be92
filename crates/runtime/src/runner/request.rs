//! The canonical request of a Provider Turn.

use std::sync::Arc;

use opencode_llm::{HttpOverlay, LlmRequest, Message, Part, ToolChoice};
use opencode_tools::Materialized;

use super::Runner;
use super::boundary::Boundary;

/// What the model reads in the last turn that its agent allows. It is no part of Session History.
const LAST_TURN: &str = "\
The limit of steps for this request is reached. Tools are switched off until the user writes again, \
so I answer in text alone and call none. I sum up what is done so far, what is still to be done, \
and what I recommend to do next.";

impl Runner {
    /// What is sent. In the last turn that the agent allows, the model is told to sum up and no
    /// tools are offered.
    pub(super) fn request(
        &self,
        boundary: &Boundary,
        tools: &Materialized,
        is_last: bool,
    ) -> LlmRequest {
        let mut messages = self.conversation.transcript.messages();
        if is_last {
            Arc::make_mut(&mut messages).push(Message::assistant([Part::text(LAST_TURN)]));
        }
        LlmRequest {
            system: boundary.system.clone(),
            messages,
            tools: self.shared.offer.definitions(tools),
            tool_choice: is_last.then_some(ToolChoice::None),
            http: HttpOverlay {
                headers: headers(boundary),
                ..HttpOverlay::default()
            },
            prefix: self.conversation.prefix.clone(),
            ..LlmRequest::new(Arc::clone(&boundary.model.model))
        }
    }
}

/// By these, servers keep the requests of one session together.
fn headers(boundary: &Boundary) -> Vec<(String, String)> {
    let session = &boundary.session.info;
    let id = session.id.to_string();
    let own = ["x-session-affinity", "X-Session-Id"].map(|name| (name.to_owned(), id.clone()));
    let parent = session.parent_id.as_ref();
    let parent = parent.map(|parent| ("x-parent-session-id".to_owned(), parent.to_string()));
    own.into_iter().chain(parent).collect()
}
