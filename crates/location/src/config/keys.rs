//! Reads the keys of a document.
//!
//! The declaration contains both generations of the format. An older key is read into the same field as its successor and
//! before it, so that the successor overrides it.

use opencode_declaration::configuration::DOCUMENT;
use opencode_declaration::vocabulary::{Member, Older};
use serde_json::{Map, Value};

use super::decode::{Decoded, boolean, bounded_texts, text};
use super::document::Draft;
use super::settings::{self, Share};
use super::step::Step;
use super::{
    agent, command, mcp, permission, policy, provider_v1, provider_v2, reference, selection, skill,
};
use crate::nearest::one_slip;

/// Reads the value of a key into the document.
type Read = fn(&mut Draft<'_>, &Value) -> Decoded<()>;

/// Returns the reader of a key. `None` for a key whose value is read as it is declared.
fn reader(name: &str) -> Option<Read> {
    Some(match name {
        "model" => |draft, value| {
            let named = selection::named(draft.located("model", value))?;
            draft.document.model = Some(named);
            Ok(())
        },
        "small_model" => |draft, value| {
            let named = selection::named(draft.located("small_model", value))?;
            draft.document.small_model = Some(named);
            Ok(())
        },
        "provider" => |draft, value| {
            draft.document.providers.extend(provider_v1::decode(value)?);
            Ok(())
        },
        "providers" => |draft, value| {
            draft.document.providers.extend(provider_v2::decode(value)?);
            Ok(())
        },
        "enabled_providers" => |draft, value| {
            draft.document.policies.extend(policy::enabled(value)?);
            Ok(())
        },
        "disabled_providers" => |draft, value| {
            draft.document.policies.extend(policy::disabled(value)?);
            Ok(())
        },
        "experimental" => experimental,
        "default_agent" => |draft, value| {
            let named = draft.located("default_agent", text(value)?);
            draft.document.default_agent = Some(named);
            Ok(())
        },
        "mode" => |draft, value| {
            draft.document.agents.extend(agent::decode_modes(value)?);
            Ok(())
        },
        "agent" => |draft, value| {
            draft.document.agents.extend(agent::decode_older(value)?);
            Ok(())
        },
        "agents" => |draft, value| {
            draft.document.agents.extend(agent::decode(value)?);
            Ok(())
        },
        // Rules accumulate. Rules of the older generation come before those of the newer one.
        "tools" => |draft, value| {
            draft.document.permissions.extend(permission::tools(value)?);
            Ok(())
        },
        "permission" => |draft, value| {
            let rules = permission::decode_older(value)?;
            draft.document.permissions.extend(rules);
            Ok(())
        },
        "permissions" => |draft, value| {
            let rules = permission::decode(value)?;
            draft.document.permissions.extend(rules);
            Ok(())
        },
        "command" => |draft, value| command::read(draft, "command", value),
        "commands" => |draft, value| command::read(draft, "commands", value),
        "skills" => skill::read,
        "reference" => |draft, value| reference::read(draft, "reference", value),
        "references" => |draft, value| reference::read(draft, "references", value),
        "instructions" => |draft, value| {
            draft.document.instructions = bounded_texts(value)?;
            Ok(())
        },
        "mcp" => mcp::read,
        "timezone" => |draft, value| {
            draft.document.settings.timezone = Some(settings::timezone(value)?);
            Ok(())
        },
        "autoshare" => |draft, value| {
            if boolean(value)? {
                draft.document.settings.share = Some(Share::Auto);
            }
            Ok(())
        },
        "share" => |draft, value| {
            let share = settings::share(value)?;
            if draft.document.source.is_untrusted() && share != Share::Disabled {
                draft.withheld(&["share"]);
            } else {
                draft.document.settings.share = Some(share);
            }
            Ok(())
        },
        _ => return None,
    })
}

fn experimental(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
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
}

/// Reads the value of a key into the document. Reports the parts that its successor in the same document overrides.
pub(super) fn read(
    key: &'static Member,
    draft: &mut Draft<'_>,
    root: &Map<String, Value>,
    value: &Value,
) -> Decoded<()> {
    if draft.document.source.is_untrusted() && !key.in_untrusted {
        draft.withheld(&[key.name]);
        return Ok(());
    }
    if key.is_unused {
        return Ok(());
    }
    match reader(key.name) {
        Some(read) => read(draft, value)?,
        None => draft.document.settings.values.read(key, value)?,
    }
    if let Some(Older::Replaced(successor)) = key.older
        && let Some(newer) = root.get(successor)
    {
        report_conflict(key.name, draft, value, successor, newer);
    }
    Ok(())
}

fn report_conflict(
    name: &str,
    draft: &mut Draft<'_>,
    value: &Value,
    successor: &str,
    newer: &Value,
) {
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

/// Returns the known key that differs from the name by one slip, preferably one of the newer generation.
pub(super) fn misspelt(name: &str) -> Option<&'static str> {
    let known = || DOCUMENT.all_members().into_iter().map(|key| key.name);
    if known().any(|key| key == name) {
        return None;
    }
    known().find(|key| one_slip(name.as_bytes(), key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use opencode_declaration::configuration;

    use super::*;

    #[test]
    fn no_key_is_declared_twice() {
        let mut names: Vec<_> = configuration::keys().map(|key| key.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_successor_of_a_key_is_read_after_it() {
        for (place, key) in configuration::keys().enumerate() {
            if let Some(older) = key.older {
                let found = configuration::keys().position(|it| it.name == older.newer());
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
