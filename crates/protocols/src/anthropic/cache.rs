//! Cache marks: positions up to which the provider is asked to cache a request.
//!
//! The provider caches a request up to each mark, and finds it again if a later request begins with
//! the same bytes. Marks have no other cost, so they are set at the ends of the stable parts: the
//! tools, the system text and the newest prompt.

use std::collections::VecDeque;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::request::{JsonMap, Role};
use serde_json::{Map, Value};

use crate::body::{InsertedBytes, option};

/// Maximum number of marks per request.
const MAX_MARKS: usize = 4;

/// The longer of the two cache lifetimes, in seconds.
const LONG: u64 = 3600;

const SHORT_MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
const LONG_MARK: &[u8] = br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;

/// The parts of a request that are marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Policy {
    tools: bool,
    system: bool,
    messages: Chosen,
    mark: &'static [u8],
}

/// The messages that are marked.
#[derive(Debug, PartialEq, Eq)]
enum Chosen {
    None,
    LatestUser,
    LatestAssistant,
    /// This number of messages at the end.
    Tail(usize),
}

/// Positions in the conversation that can be marked, in bytes.
#[derive(Clone, Default)]
pub(super) struct Places {
    /// The end of the system text.
    pub(super) system: Option<usize>,
    user: Option<usize>,
    assistant: Option<usize>,
    /// The ends of the last messages of any role.
    last: VecDeque<usize>,
}

impl Places {
    /// Records the end of a message.
    pub(super) fn add(&mut self, role: Role, at: usize) {
        match role {
            Role::User => self.user = Some(at),
            Role::Assistant => self.assistant = Some(at),
            Role::System | Role::Tool => {}
        }
        self.last.push_back(at);
        if self.last.len() > MAX_MARKS {
            self.last.pop_front();
        }
    }
}

impl Policy {
    /// Returns the policy of the option `cache`.
    pub(super) fn of(options: &JsonMap) -> Result<Self, LlmError> {
        match option(options, "cache") {
            None => Ok(Self::auto()),
            Some(Value::String(name)) if name == "auto" => Ok(Self::auto()),
            Some(Value::String(name)) if name == "none" => Ok(Self {
                tools: false,
                system: false,
                messages: Chosen::None,
                ..Self::auto()
            }),
            Some(Value::Object(members)) => Self::described(members),
            Some(_) => Err(refused("cache must be \"auto\", \"none\" or an object")),
        }
    }

    const fn auto() -> Self {
        Self {
            tools: true,
            system: true,
            messages: Chosen::LatestUser,
            mark: SHORT_MARK,
        }
    }

    fn described(members: &Map<String, Value>) -> Result<Self, LlmError> {
        let is_on = |name: &str| members.get(name) == Some(&Value::Bool(true));
        let ttl = members.get("ttlSeconds").and_then(Value::as_u64);
        Ok(Self {
            tools: is_on("tools"),
            system: is_on("system"),
            messages: chosen(members.get("messages"))?,
            mark: if ttl.is_some_and(|ttl| ttl >= LONG) {
                LONG_MARK
            } else {
                SHORT_MARK
            },
        })
    }

    /// Returns the marks of a request. If there are too many, marks of older messages are omitted.
    pub(super) fn marks(&self, places: &Places, has_tools: bool) -> InsertedBytes {
        let system = places.system.filter(|_| self.system);
        let spent = usize::from(self.tools && has_tools) + usize::from(system.is_some());
        let mut messages: Vec<usize> = match self.messages {
            Chosen::None => Vec::new(),
            Chosen::LatestUser => places.user.into_iter().collect(),
            Chosen::LatestAssistant => places.assistant.into_iter().collect(),
            Chosen::Tail(count) => {
                let count = count.min(MAX_MARKS - spent);
                places.last.iter().rev().take(count).copied().collect()
            }
        };
        messages.reverse();
        let places = system.into_iter().chain(messages);
        InsertedBytes {
            text: places.map(|at| (at, self.mark)).collect(),
            tool: self.tools.then_some(self.mark),
        }
    }
}

fn chosen(value: Option<&Value>) -> Result<Chosen, LlmError> {
    const COMPLAINT: &str = "cache.messages must be \"latest-user-message\", \"latest-assistant\" or {\"tail\": number}";
    match value {
        None | Some(Value::Null) => Ok(Chosen::None),
        Some(Value::String(name)) if name == "latest-user-message" => Ok(Chosen::LatestUser),
        Some(Value::String(name)) if name == "latest-assistant" => Ok(Chosen::LatestAssistant),
        Some(value) => {
            let tail = value.get("tail").and_then(Value::as_u64);
            let count = tail.ok_or_else(|| refused(COMPLAINT))?;
            Ok(Chosen::Tail(usize::try_from(count).unwrap_or(MAX_MARKS)))
        }
    }
}

fn refused(complaint: &str) -> LlmError {
    LlmError::invalid_request(format!("the option {complaint}"))
}
