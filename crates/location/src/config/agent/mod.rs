//! Agents in the configuration, in both generations of the format: `agents`, and `agent` or the older
//! `mode`. Markdown files have the same fields in their front matter.

use opencode_declaration::configuration::{AGENT, OLDER_AGENT};
use opencode_schema::agent::{AgentColor, AgentMode};
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use serde_json::{Map, Value};

use super::decode::{Decoded, Invalid, boolean, entries, object, optional, text};
use super::{permission, provider_v2, selection};
use crate::secret::{Headers, Members};

/// The description of an agent. Every field is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct AgentPatch {
    /// The model of sessions that choose none.
    pub model: Option<ModelRef>,
    /// The variant of that model.
    pub variant: Option<String>,
    /// Headers of its model requests.
    pub headers: Headers,
    /// Options of its model requests.
    pub body: Members,
    /// Its own part of the System Context.
    pub system: Option<String>,
    /// The purpose of the agent.
    pub description: Option<String>,
    /// The kinds of callers that can choose it.
    pub mode: Option<AgentMode>,
    /// True if user interfaces do not list it.
    pub hidden: Option<bool>,
    /// Its colour.
    pub color: Option<AgentColor>,
    /// Maximum number of Provider Turns per input.
    pub steps: Option<u32>,
    /// True if the agent is removed.
    pub disabled: Option<bool>,
    /// Rules that apply after all earlier ones.
    pub permissions: Vec<PermissionRule>,
    /// The rules with an earlier value of a key that stands twice, one set for each. They can only restrict.
    pub earlier: Vec<Vec<PermissionRule>>,
}

impl AgentPatch {
    /// Takes the limits of a description in which a key has one of its earlier values.
    pub(crate) fn restrict(&mut self, earlier: &Self) {
        self.steps = match (self.steps, earlier.steps) {
            (Some(steps), Some(earlier)) => Some(steps.min(earlier)),
            (steps, earlier) => steps.or(earlier),
        };
        if earlier.disabled == Some(true) {
            self.disabled = earlier.disabled;
        }
    }
}

/// Reads the agents of the newer generation. Authors also write `permission`, `tools` and `disable` of the older one, and
/// mean what they say.
pub(super) fn decode(value: &Value) -> Decoded<Vec<(String, AgentPatch)>> {
    entries(value, |id, value| {
        let source = object(value)?;
        let mut patch = newer(source)?;
        older_limits(source, &mut patch)?;
        Ok((name(id)?, patch))
    })
}

/// Reads the agents of the older generation.
pub(super) fn decode_older(value: &Value) -> Decoded<Vec<(String, AgentPatch)>> {
    entries(value, |id, value| Ok((name(id)?, older(object(value)?)?)))
}

/// Reads the modes of the oldest form: agents that a user chooses.
pub(super) fn decode_modes(value: &Value) -> Decoded<Vec<(String, AgentPatch)>> {
    let mut modes = decode_older(value)?;
    for (_, patch) in &mut modes {
        patch.mode = Some(AgentMode::Primary);
    }
    Ok(modes)
}

/// Checks the name of an agent or command. User interfaces show the name in line-based lists, and models receive it.
pub(super) fn name(name: &str) -> Decoded<String> {
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Invalid::new("must have a name without control characters"));
    }
    Ok(name.to_owned())
}

/// Reads the fields of a Markdown file. Such a file does not state its generation.
pub(crate) fn decode_fields(value: &Value) -> Decoded<AgentPatch> {
    let source = object(value)?;
    if source.keys().all(|name| AGENT.member(name).is_some()) {
        newer(source)
    } else {
        older(source)
    }
}

fn newer(source: &Map<String, Value>) -> Decoded<AgentPatch> {
    let request = optional(source, "request", provider_v2::request)?.unwrap_or_default();
    Ok(AgentPatch {
        model: optional(source, "model", selection::decode)?,
        variant: optional(source, "variant", text)?,
        headers: request.headers,
        body: request.body,
        system: optional(source, "system", text)?,
        description: optional(source, "description", text)?,
        mode: optional(source, "mode", mode)?,
        hidden: optional(source, "hidden", boolean)?,
        color: optional(source, "color", color)?,
        steps: optional(source, "steps", steps)?,
        disabled: optional(source, "disabled", boolean)?,
        permissions: optional(source, "permissions", permission::decode)?.unwrap_or_default(),
        earlier: Vec::new(),
    })
}

/// Reads the older fields. The newer fields override them if both are present.
fn older(source: &Map<String, Value>) -> Decoded<AgentPatch> {
    let mut patch = newer(source)?;
    let or = |newer: Option<String>, name| match newer {
        Some(newer) => Ok(Some(newer)),
        None => optional(source, name, text),
    };
    patch.system = or(patch.system, "prompt")?;
    let max_steps = optional(source, "maxSteps", steps)?;
    patch.steps = patch.steps.or(max_steps);
    older_limits(source, &mut patch)?;
    let mut body = options(source)?;
    body.0.append(&mut patch.body.0);
    patch.body = body;
    Ok(patch)
}

/// Reads the older fields that limit an agent. The newer fields override them.
fn older_limits(source: &Map<String, Value>, patch: &mut AgentPatch) -> Decoded<()> {
    let disable = optional(source, "disable", boolean)?;
    patch.disabled = patch.disabled.or(disable);
    let mut permissions = permission::of_agent(source)?;
    permissions.append(&mut patch.permissions);
    patch.permissions = permissions;
    Ok(())
}

/// The options that the older generation adds to requests: its `options` and every field that it does not know.
fn options(source: &Map<String, Value>) -> Decoded<Members> {
    let mut body = optional(source, "options", provider_v2::body)?.unwrap_or_default();
    let is_known = |name: &str| OLDER_AGENT.member(name).is_some();
    let unknown: Map<String, Value> = source
        .iter()
        .filter(|(name, _)| !is_known(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    body.0
        .append(&mut provider_v2::body(&Value::Object(unknown))?.0);
    Ok(body)
}

fn mode(value: &Value) -> Decoded<AgentMode> {
    match text(value)?.as_str() {
        "subagent" => Ok(AgentMode::Subagent),
        "primary" => Ok(AgentMode::Primary),
        "all" => Ok(AgentMode::All),
        _ => Err(Invalid::new("must be \"subagent\", \"primary\" or \"all\"")),
    }
}

fn color(value: &Value) -> Decoded<AgentColor> {
    AgentColor::parse(&text(value)?).map_err(|_| {
        Invalid::new(
            "must be a colour such as \"#7fa0ff\", or one of \"primary\", \"secondary\", \"accent\", \"success\", \"warning\", \"error\", \"info\"",
        )
    })
}

fn steps(value: &Value) -> Decoded<u32> {
    let whole = value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 1.0);
    // The conversion saturates: the largest `u32` is more steps than any session can take.
    whole
        .map(|steps| steps as u32)
        .ok_or_else(|| Invalid::new("must be a whole number of at least 1"))
}

#[cfg(test)]
mod tests;
