//! All keys of a document, each with the function that reads it.
//!
//! The table contains both generations of the format. An older key is read into the same field as its
//! successor and before it, so that the successor overrides it.

use serde_json::{Map, Value};

use super::decode::{Decoded, boolean, bounded_texts, text};
use super::document::Draft;
use super::step::Step;
use super::{
    agent, command, mcp, permission, policy, provider_v1, provider_v2, reference, selection,
    settings, skill,
};
use crate::nearest::one_slip;

/// Reads the value of a key into the document.
type Read = fn(&mut Draft<'_>, &Value) -> Decoded<()>;

/// A key of a document.
pub(super) struct Key {
    /// Its name.
    pub name: &'static str,
    /// The key of the newer generation with the same meaning.
    successor: Option<&'static str>,
    /// `None` for a known key that has no meaning here.
    read: Option<Read>,
    /// The effect of the key in a file of an untrusted project.
    untrusted: Untrusted,
}

/// The effect of a key in a file of an untrusted project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untrusted {
    /// The key has no effect.
    Withheld,
    /// Only text and restrictions take effect. The reader of the key removes everything else.
    Effective,
}

const fn key(name: &'static str, read: Read) -> Key {
    Key {
        name,
        successor: None,
        read: Some(read),
        untrusted: Untrusted::Withheld,
    }
}

/// A key of the older generation.
const fn older(name: &'static str, successor: &'static str, read: Read) -> Key {
    Key {
        name,
        successor: Some(successor),
        read: Some(read),
        untrusted: Untrusted::Withheld,
    }
}

/// A key for other programs that read the same file.
const fn unused(name: &'static str) -> Key {
    Key {
        name,
        successor: None,
        read: None,
        untrusted: Untrusted::Withheld,
    }
}

/// A key that also takes effect in files of untrusted projects.
const fn trusted_everywhere(key: Key) -> Key {
    Key {
        untrusted: Untrusted::Effective,
        ..key
    }
}

/// The keys in the order in which they are read. Later values override earlier ones.
pub(super) const KEYS: &[Key] = &[
    // Models and providers.
    trusted_everywhere(key("model", |draft, value| {
        let named = selection::named(draft.located("model", value))?;
        draft.document.model = Some(named);
        Ok(())
    })),
    key("small_model", |draft, value| {
        let named = selection::named(draft.located("small_model", value))?;
        draft.document.small_model = Some(named);
        Ok(())
    }),
    older("provider", "providers", |draft, value| {
        draft.document.providers.extend(provider_v1::decode(value)?);
        Ok(())
    }),
    key("providers", |draft, value| {
        draft.document.providers.extend(provider_v2::decode(value)?);
        Ok(())
    }),
    key("enabled_providers", |draft, value| {
        draft.document.policies.extend(policy::enabled(value)?);
        Ok(())
    }),
    trusted_everywhere(key("disabled_providers", |draft, value| {
        draft.document.policies.extend(policy::disabled(value)?);
        Ok(())
    })),
    trusted_everywhere(key("experimental", |draft, value| {
        let mut policies = policy::decode(value)?;
        if draft.document.source.is_untrusted() && policies.iter().any(|policy| policy.allow) {
            draft.withheld(&["experimental", "policies"]);
            policies.retain(|policy| !policy.allow);
        }
        draft.document.policies.extend(policies);
        if let Some(value) = value.get("mcp_timeout") {
            let limit = mcp::timeout(value).map_err(|invalid| invalid.at("mcp_timeout"))?;
            if !draft.document.source.is_untrusted() {
                draft.document.mcp.timeouts.request = Some(limit);
            }
        }
        if value.get("subagent_depth").is_some() {
            draft.unknown(&["experimental", "subagent_depth"]);
        }
        Ok(())
    })),
    // Agents and their permissions.
    key("default_agent", |draft, value| {
        let named = draft.located("default_agent", text(value)?);
        draft.document.default_agent = Some(named);
        Ok(())
    }),
    trusted_everywhere(older("mode", "agents", |draft, value| {
        draft.document.agents.extend(agent::decode_modes(value)?);
        Ok(())
    })),
    trusted_everywhere(older("agent", "agents", |draft, value| {
        draft.document.agents.extend(agent::decode_older(value)?);
        Ok(())
    })),
    trusted_everywhere(key("agents", |draft, value| {
        draft.document.agents.extend(agent::decode(value)?);
        Ok(())
    })),
    // Rules accumulate. Rules of the older generation come before those of the newer one.
    trusted_everywhere(key("tools", |draft, value| {
        draft.document.permissions.extend(permission::tools(value)?);
        Ok(())
    })),
    trusted_everywhere(key("permission", |draft, value| {
        let rules = permission::decode_older(value)?;
        draft.document.permissions.extend(rules);
        Ok(())
    })),
    trusted_everywhere(key("permissions", |draft, value| {
        draft
            .document
            .permissions
            .extend(permission::decode(value)?);
        Ok(())
    })),
    // Resources for the model.
    trusted_everywhere(older("command", "commands", |draft, value| {
        command::read(draft, "command", value)
    })),
    trusted_everywhere(key("commands", |draft, value| {
        command::read(draft, "commands", value)
    })),
    trusted_everywhere(key("skills", skill::read)),
    trusted_everywhere(older("reference", "references", |draft, value| {
        reference::read(draft, "reference", value)
    })),
    trusted_everywhere(key("references", |draft, value| {
        reference::read(draft, "references", value)
    })),
    trusted_everywhere(key("instructions", |draft, value| {
        draft.document.instructions = bounded_texts(value)?;
        Ok(())
    })),
    key("mcp", mcp::read),
    // Single values.
    key("shell", |draft, value| {
        draft.document.settings.shell = Some(text(value)?);
        Ok(())
    }),
    key("username", |draft, value| {
        draft.document.settings.username = Some(text(value)?);
        Ok(())
    }),
    key("timezone", |draft, value| {
        draft.document.settings.timezone = Some(settings::timezone(value)?);
        Ok(())
    }),
    older("autoshare", "share", |draft, value| {
        settings::autoshare(value, &mut draft.document.settings)
    }),
    trusted_everywhere(key("share", |draft, value| {
        let share = settings::share(value)?;
        if draft.document.source.is_untrusted() && share != settings::Share::Disabled {
            draft.withheld(&["share"]);
        } else {
            draft.document.settings.share = Some(share);
        }
        Ok(())
    })),
    older("snapshot", "snapshots", |draft, value| {
        draft.document.settings.snapshots = Some(boolean(value)?);
        Ok(())
    }),
    key("snapshots", |draft, value| {
        draft.document.settings.snapshots = Some(boolean(value)?);
        Ok(())
    }),
    older("attachment", "attachments", |draft, value| {
        settings::attachments(value, &mut draft.document.settings)
    }),
    key("media", |draft, value| {
        settings::attachments(value, &mut draft.document.settings)
    }),
    key("attachments", |draft, value| {
        settings::attachments(value, &mut draft.document.settings)
    }),
    key("tool_output", |draft, value| {
        settings::tool_output(value, &mut draft.document.settings)
    }),
    key("compaction", |draft, value| {
        settings::compaction(value, &mut draft.document.settings)
    }),
    key("watcher", |draft, value| {
        draft.document.settings.watcher_ignore = settings::watcher(value)?;
        Ok(())
    }),
    // Keys of other programs.
    trusted_everywhere(unused("$schema")),
    trusted_everywhere(unused("autoupdate")),
    trusted_everywhere(unused("enterprise")),
    unused("formatter"),
    trusted_everywhere(unused("keybinds")),
    trusted_everywhere(unused("layout")),
    trusted_everywhere(unused("logLevel")),
    unused("lsp"),
    unused("plugin"),
    unused("plugins"),
    unused("server"),
    trusted_everywhere(unused("subagent_depth")),
    trusted_everywhere(unused("theme")),
    trusted_everywhere(unused("tui")),
];

impl Key {
    /// Reads the key. Reports the parts that its successor in the same document overrides.
    pub(super) fn read(
        &self,
        draft: &mut Draft<'_>,
        root: &Map<String, Value>,
        value: &Value,
    ) -> Decoded<()> {
        if draft.document.source.is_untrusted() && self.untrusted == Untrusted::Withheld {
            draft.withheld(&[self.name]);
            return Ok(());
        }
        let Some(read) = self.read else {
            return Ok(());
        };
        read(draft, value)?;
        if let Some(successor) = self.successor
            && let Some(newer) = root.get(successor)
        {
            self.report_conflict(draft, value, successor, newer);
        }
        Ok(())
    }

    fn report_conflict(
        &self,
        draft: &mut Draft<'_>,
        value: &Value,
        successor: &str,
        newer: &Value,
    ) {
        let name = self.name;
        let here = Step::Key(name.to_owned());
        let (Value::Object(older), Value::Object(newer)) = (value, newer) else {
            if value != newer {
                let message = format!(
                    "{name} has no effect beside {successor}, which says the same in the newer form"
                );
                draft.ignored(&[here], message);
            }
            return;
        };
        for id in older.keys().filter(|id| newer.contains_key(*id)) {
            let message = format!(
                "{name}.{id} and {successor}.{id} speak of the same; where they differ, {successor}.{id} holds"
            );
            draft.ignored(&[here.clone(), Step::Key(id.clone())], message);
        }
    }
}

/// Reports keys that are probably misspelt. Ignores other unknown keys: they may belong to a newer
/// version or another program.
pub(super) fn report_unknown(draft: &mut Draft<'_>, root: &Map<String, Value>) {
    for name in root.keys() {
        if let Some(meant) = misspelt(name) {
            let message = format!("There is no key {name}; {meant} is probably meant");
            draft.ignored(&[Step::Key(name.clone())], message);
        }
    }
}

/// Returns the known key that differs from the name by one slip.
pub(super) fn misspelt(name: &str) -> Option<&'static str> {
    let known = || KEYS.iter().map(|key| key.name);
    if known().any(|key| key == name) {
        return None;
    }
    known().find(|key| one_slip(name.as_bytes(), key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_listed_twice() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_successor_of_a_key_is_read_after_it() {
        for (place, key) in KEYS.iter().enumerate() {
            if let Some(successor) = key.successor {
                let found = KEYS.iter().position(|other| other.name == successor);
                assert!(found.is_some_and(|found| found > place), "{}", key.name);
            }
        }
    }

    #[test]
    fn a_misspelt_key_is_recognised() {
        for (name, meant) in [
            ("provder", Some("provider")),
            ("proivder", Some("provider")),
            ("Provider", Some("provider")),
            ("providerss", Some("providers")),
            ("instruction", Some("instructions")),
            ("modle", Some("model")),
            ("modal", Some("model")),
            ("defaultagent", Some("default_agent")),
            ("default-agent", Some("default_agent")),
            ("model", None),
            ("mcq", None),
            ("m", None),
            ("", None),
            ("something_else", None),
            ("propider_x", None),
        ] {
            assert_eq!(misspelt(name), meant, "{name}");
        }
    }
}
