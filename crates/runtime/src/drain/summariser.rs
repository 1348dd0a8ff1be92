//! The model, text and request settings for the summaries of a session.

use std::sync::Arc;

use opencode_llm::SystemPart;
use opencode_location::catalogue::{RequestDomains, ResolvedModelOutcome, request_domains};
use opencode_schema::agent::AgentInfo;
use opencode_schema::session::SessionInfo;

use super::request::headers;
use super::sample::Sampled;
use crate::compaction::Summariser;
use crate::history::estimate::Budget;

/// The agent that supplies the model, text and request settings of summaries.
const AGENT: &str = "compaction";

/// Returns the model that summarises for a turn of `resolved`, or the reason that it cannot be used. If
/// the agent `compaction` has no request settings, those of the session's agent apply.
pub(super) fn summariser(
    session: &SessionInfo,
    sampled: &Sampled,
    resolved: &ResolvedModelOutcome,
    budget: Budget,
) -> Result<Summariser, String> {
    let agent = sampled.location.agents.get(AGENT);
    let text = agent.and_then(|agent| agent.system.as_deref());
    let text = text.filter(|text| !text.trim().is_empty());
    let system = text.map(SystemPart::new).into_iter().collect();
    let Some(agent) = agent.filter(|agent| has_requests_of_its_own(agent)) else {
        return Ok(Summariser {
            model: Arc::clone(&resolved.model),
            cost: resolved.cost.clone(),
            system,
            headers: headers(session, sampled.agent()),
            settings: RequestDomains::default(),
            budget,
        });
    };
    let ResolvedModelOutcome { model, cost, .. } = model_of(agent, sampled, resolved)?;
    let settings = request_domains(&agent.request.body, model.protocol);
    let asked = settings.generation.max_tokens;
    let configuration = &sampled.location.configuration.settings;
    let budget = Budget::of(&model, asked.or(model.generation.max_tokens), configuration);
    Ok(Summariser {
        model,
        cost,
        system,
        headers: headers(session, Some(agent)),
        settings,
        budget,
    })
}

fn has_requests_of_its_own(agent: &AgentInfo) -> bool {
    let request = &agent.request;
    agent.model.is_some() || !request.headers.is_empty() || !request.body.is_empty()
}

/// Returns the model of the agent, without a fallback, or the session's model if the agent names none.
fn model_of(
    agent: &AgentInfo,
    sampled: &Sampled,
    own: &ResolvedModelOutcome,
) -> Result<ResolvedModelOutcome, String> {
    let Some(chosen) = &agent.model else {
        return Ok(own.clone());
    };
    let resolved = sampled.location.catalogue.resolve(Some(chosen));
    resolved.map_err(|error| format!("the model of the agent {AGENT} cannot be used: {error}"))
}
