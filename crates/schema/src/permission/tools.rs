//! The actions of the built-in tools, and the rules that name a tool instead of its action.

use std::borrow::Cow;

use super::{PermissionEffect, PermissionRule, matches};

/// A tool, the action for which it asks, and the resources of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolAction {
    /// Name of the tool.
    pub tool: &'static str,
    /// Action of its permissions.
    pub action: &'static str,
    /// Description of the resources, for users.
    pub resources: &'static str,
}

const fn tool(tool: &'static str, action: &'static str, resources: &'static str) -> ToolAction {
    ToolAction {
        tool,
        action,
        resources,
    }
}

/// The tools of the host.
pub const TOOL_ACTIONS: [ToolAction; 16] = [
    tool(
        "apply_patch",
        "edit",
        "each file that the patch adds, changes or removes",
    ),
    tool("bash", "bash", "the text of the command"),
    tool("edit", "edit", "the file"),
    tool("glob", "glob", "the pattern"),
    tool("grep", "grep", "the pattern"),
    tool(
        "list_mcp_resource_templates",
        "list_mcp_resource_templates",
        "`*`",
    ),
    tool("list_mcp_resources", "list_mcp_resources", "`*`"),
    tool("question", "question", "`*`"),
    tool("read", "read", "the file or directory"),
    tool(
        "read_mcp_resource",
        "read_mcp_resource",
        "the server, `:` and the address",
    ),
    tool("skill", "skill", "the name of the skill"),
    tool("task", "task", "the agent"),
    tool("todowrite", "todowrite", "`*`"),
    tool(
        "webfetch",
        "webfetch",
        "the address, as it was given and in normal form",
    ),
    tool("websearch", "websearch", "the query"),
    tool("write", "edit", "the file"),
];

/// Tools of other versions that configuration files still name, with their actions.
const FORMER_TOOLS: [(&str, &str); 2] = [("multiedit", "edit"), ("patch", "edit")];

/// Actions for which the host asks, whichever tool is called.
const HOST_ACTIONS: [&str; 2] = ["doom_loop", "external_directory"];

/// Returns the names of tools and actions that rules may contain, also when no server and no program adds tools.
pub fn known_names() -> impl Iterator<Item = &'static str> + Clone {
    tools().map(|(tool, _)| tool).chain(HOST_ACTIONS)
}

fn tools() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    let tools = TOOL_ACTIONS.iter().map(|it| (it.tool, it.action));
    tools.chain(FORMER_TOOLS)
}

/// Returns the action of a built-in tool. Other names are actions themselves.
pub fn action_of_tool(name: &str) -> &str {
    let found = tools().find(|(tool, _)| *tool == name);
    found.map_or(name, |(_, action)| action)
}

/// Returns the built-in tools whose action has another name.
fn other_names(action: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    let of_action = tools().filter(move |(tool, its)| *its == action && *tool != action);
    of_action.map(|(tool, _)| tool)
}

impl PermissionRule {
    /// True if the rule is about an action. Its pattern may also name a tool that asks for the action. A rule that denies or
    /// asks counts in any case of its letters.
    #[must_use]
    pub fn is_about(&self, action: &str) -> bool {
        matches(&self.action, action) || self.names_tool_of(action)
    }

    /// True if the rule is about an action, but only by the name of a tool or by another case of its letters.
    #[must_use]
    pub(super) fn names_tool_of(&self, action: &str) -> bool {
        if self.effect == PermissionEffect::Allow {
            return other_names(action).any(|tool| self.action == tool);
        }
        let pattern = lower(&self.action);
        matches(&pattern, &lower(action)) || other_names(action).any(|tool| matches(&pattern, tool))
    }
}

fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|it| it.is_ascii_uppercase()) {
        text.to_ascii_lowercase().into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::PermissionEffect::{self, Allow, Ask, Deny};
    use super::super::{Ruleset, decide, evaluate, is_denied_everywhere};
    use super::*;

    fn rules(rules: &[(&str, &str, PermissionEffect)]) -> Vec<PermissionRule> {
        let rule = |(action, resource, effect): &(&str, &str, PermissionEffect)| PermissionRule {
            action: (*action).to_owned(),
            resource: (*resource).to_owned(),
            effect: *effect,
        };
        rules.iter().map(rule).collect()
    }

    #[test]
    fn a_rule_about_a_tool_is_about_its_action() {
        let all = ("*", "*", Allow);
        for (tool, action) in tools() {
            for effect in [Deny, Ask] {
                for name in [
                    tool.to_owned(),
                    tool.to_uppercase(),
                    format!("{}*", &tool[..tool.len() - 1]),
                ] {
                    let rules = rules(&[all, (&name, "*", effect)]);
                    let found = evaluate(action, "a", &Ruleset::of(&rules));
                    assert_eq!(found, effect, "{name} {action}");
                }
            }
            let allowed = rules(&[("*", "*", Deny), (tool, "*", Allow)]);
            assert_eq!(
                evaluate(action, "a", &Ruleset::of(&allowed)),
                Allow,
                "{tool}"
            );
            let hidden = rules(&[all, (tool, "*", Deny)]);
            assert!(
                is_denied_everywhere(action, &Ruleset::of(&hidden)),
                "{tool}"
            );
        }
    }

    #[test]
    fn the_name_of_a_tool_loosens_no_rule_about_its_action() {
        for (given, resource, expected) in [
            (&[("edit", "*", Deny), ("write", "*", Allow)][..], "a", Deny),
            (&[("edit", "a", Ask), ("write", "*", Allow)], "a", Ask),
            (&[("edit", "a", Ask), ("write", "*", Allow)], "b", Allow),
            (
                &[("apply_patch", "*", Deny), ("write", "*", Allow)],
                "a",
                Deny,
            ),
            (&[("*", "*", Deny), ("write", "*", Allow)], "a", Allow),
            (&[("write", "*", Deny), ("edit", "*", Allow)], "a", Allow),
            (
                &[
                    ("edit", "*", Deny),
                    ("write", "*", Allow),
                    ("edit", "*", Ask),
                ],
                "a",
                Ask,
            ),
            (&[("*", "*", Allow), ("WRITE", "*", Allow)], "a", Allow),
            (&[("*", "*", Ask), ("WRITE", "*", Allow)], "a", Ask),
            (&[("*", "*", Ask), ("wri*", "*", Allow)], "a", Ask),
        ] {
            let rules = rules(given);
            let rules = Ruleset::of(&rules);
            assert_eq!(evaluate("edit", resource, &rules), expected, "{given:?}");
            let every = decide("edit", [], &rules, &[]);
            assert_eq!(every.stricter(expected), every, "{given:?}");
        }
    }

    #[test]
    fn a_tool_of_the_program_keeps_its_own_action() {
        let rules = rules(&[
            ("*", "*", Allow),
            ("edit", "*", Deny),
            ("files_Write", "*", Ask),
        ]);
        let rules = Ruleset::of(&rules);
        for (action, expected) in [("write", Allow), ("files_Write", Ask), ("edit", Deny)] {
            assert_eq!(evaluate(action, "a", &rules), expected, "{action}");
        }
    }

    #[test]
    fn patterns_for_the_tools_of_a_server_are_about_no_built_in_action() {
        for (_, action) in tools() {
            for pattern in ["mcp_*", "github_*", "files_write", "write_*"] {
                let rules = rules(&[(pattern, "*", Deny)]);
                assert!(!rules[0].is_about(action), "{pattern} {action}");
            }
        }
    }
}
