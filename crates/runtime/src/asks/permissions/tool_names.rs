//! Rules with misspelt names of tools that the host does not have itself: those of the program and of MCP servers.

use std::collections::BTreeSet;
use std::sync::Arc;

use opencode_location::definitions::agents::{meant_action, unknown_actions};
use opencode_schema::permission::Ruleset;

/// The names of the tools of a Location, and the actions for which they ask.
pub(crate) struct ToolNames {
    pub(crate) known: BTreeSet<String>,
    /// The beginnings of the names of tools of servers that are not connected, which may have any tool.
    pub(crate) unclear: Vec<String>,
}

/// Returns the names of now.
pub(crate) type NamesOfNow = Arc<dyn Fn() -> ToolNames + Send + Sync>;

impl ToolNames {
    /// True if a tool has the name, or may have it.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.known.contains(name) || self.unclear.iter().any(|it| name.starts_with(it))
    }

    /// Returns the name that the author of a rule about an unknown action probably meant.
    pub(crate) fn meant(&self, action: &str) -> Option<&str> {
        meant_action(action, self.known.iter().map(String::as_str))
    }

    /// Returns the misspelt actions of restricting rules that mean one of these names.
    pub(super) fn misspelt(&self, rules: &Ruleset<'_>, names: &[&str]) -> Vec<String> {
        let is_meant = |action: &&str| {
            !self.may_have(action) && self.meant(action).is_some_and(|it| names.contains(&it))
        };
        let unknown: BTreeSet<_> = unknown_actions(rules).collect();
        unknown
            .into_iter()
            .filter(is_meant)
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use opencode_schema::permission::PermissionEffect::{Allow, Ask, Deny};
    use opencode_schema::permission::PermissionRule;

    use super::*;

    #[test]
    fn a_misspelt_name_means_the_nearest_tool() {
        let names = ToolNames {
            known: ["deploy", "git_log", "git_logs"].map(str::to_owned).into(),
            unclear: vec!["web_".to_owned()],
        };
        for (action, effect, asked, expected) in [
            ("deplyo", Deny, "deploy", true),
            ("Deploy", Ask, "deploy", true),
            ("deplyo", Allow, "deploy", false),
            ("deploy", Deny, "deploy", false),
            // It is the name of another tool, or may be.
            ("git_logs", Deny, "git_log", false),
            ("web_deploy", Deny, "deploy", false),
            ("git_lgo", Deny, "git_log", true),
            ("git_lgo", Deny, "deploy", false),
            ("deplyo*", Deny, "deploy", false),
            // It means a built-in tool.
            ("bsah", Deny, "deploy", false),
        ] {
            let rule = PermissionRule {
                action: action.to_owned(),
                resource: "*".to_owned(),
                effect,
            };
            let found = names.misspelt(&Ruleset::of(&[rule]), &[asked]);
            assert_eq!(!found.is_empty(), expected, "{action} {asked}");
        }
    }
}
