//! Values that cannot be read, and the tool calls that they could restrict.

use std::path::PathBuf;

use opencode_declaration::configuration::{self, OLDER_AGENT};
use opencode_declaration::vocabulary::{Member, Restricts};
use opencode_schema::permission::action_of_tool;
use serde_json::{Map, Value};

use super::step::Step;
use crate::nearest::one_slip;

/// A value or a file that cannot be read and that could contain permissions. The host asks the user
/// before each tool call that it could restrict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadablePermissions {
    /// The agent that it concerns. `None` for all agents.
    pub agent: Option<String>,
    /// The action that it concerns. `None` for all actions.
    pub action: Option<String>,
    /// A description of the unreadable part, with the reason.
    pub reason: String,
    /// The file that contains it, or the directory in which not all files were found. `None` if it is not a file.
    pub(crate) file: Option<PathBuf>,
}

impl UnreadablePermissions {
    /// A loss that could restrict every action of every agent.
    pub(crate) fn everything(reason: String) -> Self {
        Self {
            agent: None,
            action: None,
            reason,
            file: None,
        }
    }

    /// Sets the file.
    pub(crate) fn in_file_at(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// A loss that could restrict every action of one agent.
    pub(crate) fn of_agent(agent: &str, reason: String) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..Self::everything(reason)
        }
    }

    /// The consequence for the user, as the end of a message.
    pub(crate) fn consequence(&self) -> String {
        let whose = match &self.agent {
            Some(agent) => format!(" of the agent {agent}"),
            None => String::new(),
        };
        let uses = match &self.action {
            Some(action) => format!("use of {action}"),
            None => "use of a tool".to_owned(),
        };
        format!(". Until this is corrected, the host asks before every {uses}{whose}")
    }

    /// The permissions that could be lost with the value at the end of `path` in a document. `None` if
    /// the value cannot contain permissions.
    pub(crate) fn at(path: &[Step], reason: String) -> Option<Self> {
        let keys: Vec<_> = path.iter().map(Step::key).collect();
        let (agent, action) = match keys.as_slice() {
            [] => (None, None),
            [Some(key), rest @ ..] => match (restricts(key), rest) {
                (Restricts::NamedAgents, []) => (None, None),
                (Restricts::NamedAgents, [agent, field @ ..]) => {
                    (*agent, Self::action_of_agent(field)?)
                }
                (restricts, rest) => (None, action_within(restricts, rest)?),
            },
            [None, ..] => return None,
        };
        Some(Self {
            agent: agent.map(str::to_owned),
            action: action.map(str::to_owned),
            ..Self::everything(reason)
        })
    }

    /// Same as [`Self::at`], for a path in the fields of an agent file.
    pub(crate) fn in_file(agent: &str, path: &[Step], reason: String) -> Option<Self> {
        let keys: Vec<_> = path.iter().map(Step::key).collect();
        let action = Self::action_of_agent(&keys)?;
        Some(Self {
            agent: Some(agent.to_owned()),
            action: action.map(str::to_owned),
            ..Self::everything(reason)
        })
    }

    /// The action that a field of an agent concerns, or an inner `None` for all actions. The outer
    /// `None` means that the field cannot contain permissions.
    #[expect(
        clippy::option_option,
        reason = "no permissions, or permissions of all actions"
    )]
    fn action_of_agent<'k>(field: &[Option<&'k str>]) -> Option<Option<&'k str>> {
        match field {
            [] => Some(None),
            [Some(field), rest @ ..] => action_within(of_agent(field)?.restricts, rest),
            [None, ..] => None,
        }
    }
}

/// The action that a value below a key concerns, or an inner `None` for all actions. `path` leads from the key to the
/// value. The outer `None` means that the key does not hold permissions.
#[expect(
    clippy::option_option,
    reason = "no permissions, or permissions of all actions"
)]
fn action_within<'k>(restricts: Restricts, path: &[Option<&'k str>]) -> Option<Option<&'k str>> {
    let name = path.first().copied().flatten();
    match restricts {
        Restricts::Actions => Some(None),
        Restricts::NamedActions => Some(name),
        Restricts::NamedTools => Some(name.map(action_of_tool)),
        _ => None,
    }
}

/// The declaration of a key of a document.
pub(super) fn declared(key: &str) -> Option<&'static Member> {
    configuration::keys().find(|it| it.name == key)
}

/// The uses that the value of a key of a document could have restricted if the host cannot read it.
pub(super) fn restricts(key: &str) -> Restricts {
    declared(key).map_or(Restricts::Nothing, |key| key.restricts)
}

/// The declaration of a field of an agent, of either generation.
fn of_agent(field: &str) -> Option<&'static Member> {
    OLDER_AGENT.member(field)
}

/// The names of the fields of an agent that hold permissions.
fn permission_fields() -> impl Iterator<Item = &'static str> {
    let fields = OLDER_AGENT.all_members().into_iter();
    fields
        .filter(|it| it.restricts.is_permissions())
        .map(|it| it.name)
}

/// The paths of keys in a document that are probably misspelt keys for permissions or agents.
pub(super) fn misspelt_keys(root: &Map<String, Value>) -> Vec<(Vec<Step>, &'static str)> {
    let mut found = Vec::new();
    for name in root.keys() {
        let meant = super::keys::misspelt(name);
        let holds_rules = |key: &&str| {
            let restricts = restricts(key);
            restricts.is_permissions() || restricts == Restricts::NamedAgents
        };
        if let Some(meant) = meant.filter(holds_rules) {
            found.push((vec![Step::Key(name.clone())], meant));
        }
    }
    let keys = configuration::keys().map(|key| key.name);
    for key in keys.filter(|key| restricts(key) == Restricts::NamedAgents) {
        let agents = root.get(key).and_then(Value::as_object);
        for (id, agent) in agents.into_iter().flatten() {
            for (field, meant) in agent.as_object().into_iter().flat_map(misspelt_fields) {
                let path = [key, id, field].map(|key| Step::Key(key.to_owned()));
                found.push((path.into(), meant));
            }
        }
    }
    found
}

/// The fields of an agent that are probably misspelt keys for permissions.
pub(crate) fn misspelt_fields(
    agent: &Map<String, Value>,
) -> impl Iterator<Item = (&str, &'static str)> {
    agent.keys().filter_map(|name| {
        let is_known = permission_fields().any(|field| field == name);
        let mut fields = permission_fields();
        let found = fields.find(|field| one_slip(name.as_bytes(), field.as_bytes()));
        found
            .filter(|_| !is_known)
            .map(|meant| (name.as_str(), meant))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Vec<Step> {
        let keys = text.split('.').filter(|key| !key.is_empty());
        keys.map(|key| match key.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Key(key.to_owned()),
        })
        .collect()
    }

    #[test]
    fn a_lost_value_restricts_the_actions_that_it_names() {
        let all = Some((None, None));
        for (lost, expected) in [
            ("", all),
            ("permission", all),
            ("permissions.3.effect", all),
            ("permission.bash", Some((None, Some("bash")))),
            ("permission.bash.git *", Some((None, Some("bash")))),
            ("tools.write", Some((None, Some("edit")))),
            ("agents", all),
            ("agent.build", Some((Some("build"), None))),
            ("mode.build.permissions.0", Some((Some("build"), None))),
            ("agents.a.permission.edit", Some((Some("a"), Some("edit")))),
            ("agents.a.tools.patch", Some((Some("a"), Some("edit")))),
            ("agents.a.steps", None),
            ("compaction.auto", None),
            ("provider.permission", None),
        ] {
            let found = UnreadablePermissions::at(&path(lost), String::new());
            let found = found
                .as_ref()
                .map(|it| (it.agent.as_deref(), it.action.as_deref()));
            assert_eq!(found, expected, "{lost}");
        }
    }

    #[test]
    fn misspelt_keys_of_permissions_are_found() {
        let document = json!({
            "permision": {}, "permission": {}, "tool": {}, "model": "a/b",
            "agent": {"build": {"permissoin": "deny", "prompt": "x"}},
            "agents": {"a": {"permissions": []}, "b": 1},
        });
        let found = misspelt_keys(document.as_object().unwrap());
        let expected = [
            (path("permision"), "permission"),
            (path("tool"), "tools"),
            (path("agent.build.permissoin"), "permission"),
        ];
        assert_eq!(found, expected);
    }
}
