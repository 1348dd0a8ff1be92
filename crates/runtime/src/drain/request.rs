//! The canonical request of a Provider Turn.

use std::sync::Arc;

use opencode_llm::{HttpOverlay, LlmRequest, Message, Part, SystemPart, ToolChoice};
use opencode_location::catalogue::request_domains;
use opencode_schema::agent::AgentInfo;
use opencode_schema::session::SessionInfo;
use opencode_tools::Materialized;

use super::Runner;
use super::base_instructions::base_instructions;
use super::boundary::Boundary;
use super::output::DueOutput;

/// The closing message of the last turn that the agent allows. It is not part of Session History.
pub(super) const LAST_TURN: &str = "\
The limit of steps for this request is reached. Tools are switched off until the user writes again, \
so I answer in text alone and call none. I sum up what is done so far, what is still to be done, \
and what I recommend to do next.";

impl Runner {
    /// Builds the request. In the last turn that the agent allows, the model is told to summarise and no
    /// tools are offered. The agent's request settings come after those of the model.
    pub(super) fn request(
        &self,
        boundary: &Boundary,
        tools: &Materialized,
        is_last: bool,
        output: Option<&DueOutput>,
    ) -> LlmRequest {
        let model = Arc::clone(&boundary.model.model);
        let settings = boundary.sampled.agent().map(|agent| &agent.request);
        let domains = settings.map(|settings| request_domains(&settings.body, model.protocol));
        let mut domains = domains.unwrap_or_default();
        let configuration = &boundary.sampled.location.configuration.settings;
        let asked = domains
            .generation
            .max_tokens
            .or(model.generation.max_tokens);
        domains.generation.max_tokens = asked.map(|it| configuration.answer_tokens(Some(it), it));
        let own = own_text(boundary);
        let mut tools = self.shared.offer.definitions(tools);
        let mut tool_choice = is_last.then_some(ToolChoice::None);
        if let Some(output) = output {
            tool_choice = output.tool_choice(!tools.is_empty());
            let tool = output.tool();
            if tool.is_some() {
                tools = tools.iter().cloned().chain(tool).collect();
            }
        }
        // The output is the summary of a last turn.
        let is_closed = is_last && output.is_none();
        let system = own.into_iter().chain([boundary.baseline.clone()]);
        LlmRequest {
            system: system.filter(|part| !part.text.is_empty()).collect(),
            messages: self.conversation.transcript.messages(),
            closing: is_closed.then(|| Message::assistant([Part::text(LAST_TURN)])),
            tools,
            tool_choice,
            output: output.and_then(DueOutput::format),
            generation: domains.generation,
            usual_output: Some(configuration.usual_output()),
            provider_options: domains.provider_options,
            http: HttpOverlay {
                headers: headers(&boundary.session.info, boundary.sampled.agent()),
                body: domains.body,
                ..HttpOverlay::default()
            },
            cache_key: Some(cache_key(&boundary.session.info)),
            is_by_agent: boundary.session.info.parent_id.is_some(),
            prefix: self.conversation.prefix.clone(),
            ..LlmRequest::new(model)
        }
    }
}

/// Returns the agent's own text, or the base instructions of the model's family if it has none.
pub(super) fn own_text(boundary: &Boundary) -> Option<SystemPart> {
    let agent = boundary.sampled.agent()?;
    let own = agent
        .system
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let text = own.unwrap_or_else(|| base_instructions(&boundary.model.model));
    Some(SystemPart::new(text))
}

/// Returns the session id, shortened to the length that servers accept.
fn cache_key(session: &SessionInfo) -> String {
    const MOST: usize = 64;
    let id = session.id.to_string();
    match id.strip_prefix("ses_") {
        Some(rest) if id.len() > MOST => rest.to_owned(),
        _ => id,
    }
}

/// Returns the headers. Servers use the first one to route the requests of one session together.
pub(super) fn headers(session: &SessionInfo, agent: Option<&AgentInfo>) -> Vec<(String, String)> {
    let id = session.id.to_string();
    let own = ["x-session-affinity", "X-Session-Id"].map(|name| (name.to_owned(), id.clone()));
    let parent = session.parent_id.as_ref();
    let parent = parent.map(|parent| ("x-parent-session-id".to_owned(), parent.to_string()));
    let agent = agent.into_iter().flat_map(|agent| &agent.request.headers);
    let agent = agent.map(|(name, value)| (name.clone(), value.clone()));
    own.into_iter().chain(parent).chain(agent).collect()
}
