//! Permission rules that name no action of the host.
//!
//! A server or the program may have a tool with that name, and it may become known later. So a rule is never refused. If
//! its name resembles that of an action, a rule that denies or asks is also about that action.

use std::collections::BTreeSet;
use std::sync::Arc;

use opencode_schema::permission::{
    PermissionEffect, PermissionRule, Ruleset, action_of_tool, known_names, restricting,
};

use crate::nearest::misspelt;

/// Maximum number of names that are reported.
const MAX_REPORTED: usize = 100;

/// Actions of other versions, for which no tool asks. Configuration files still name them.
const FORMER: [&str; 5] = ["codesearch", "lsp", "plan_enter", "plan_exit", "todoread"];

fn known() -> impl Iterator<Item = &'static str> + Clone {
    known_names().chain(FORMER)
}

/// Rules about actions that the host does not know, by the sources of the rules.
#[derive(Debug, Clone, Default)]
pub(super) struct Misnamed(BTreeSet<MisnamedAction>);

/// An action that a rule names and that the host does not know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MisnamedAction {
    /// The file, or the name of another source of the rule.
    pub origin: String,
    /// The action.
    pub action: String,
}

/// Returns the name that the author of a rule about an unknown action probably meant. `others` are names of tools that
/// the host does not have itself.
pub fn meant_action<'n>(
    action: &str,
    others: impl Iterator<Item = &'n str> + Clone,
) -> Option<&'n str> {
    let known = known().map(|name| -> &'n str { name });
    misspelt(action, known.chain(others))
}

/// Returns the actions of restricting rules that are no actions of the host, some of them repeatedly.
pub fn unknown_actions<'r>(rules: &'r Ruleset<'_>) -> impl Iterator<Item = &'r str> {
    let unknown = rules.all().filter(|rule| restricts_unknown(rule));
    unknown.map(|rule| rule.action.as_str())
}

impl Misnamed {
    /// Adds the actions of rules from one source.
    pub(super) fn add(&mut self, origin: &str, rules: &[PermissionRule]) {
        for rule in rules {
            if self.0.len() < MAX_REPORTED && is_unknown(&rule.action) {
                self.0.insert(MisnamedAction {
                    origin: origin.to_owned(),
                    action: rule.action.clone(),
                });
            }
        }
    }

    pub(super) fn actions(&self) -> impl Iterator<Item = &MisnamedAction> {
        self.0.iter()
    }
}

/// Returns the rules of a session with those that `with_meant` adds.
#[must_use]
pub fn restricting_meant(rules: Arc<[PermissionRule]>) -> Arc<[PermissionRule]> {
    if rules.iter().all(|rule| meant_rule(rule).is_none()) {
        return rules;
    }
    with_meant(rules.iter()).collect()
}

/// Returns the rules, and behind each that restricts a misspelt action the same rule about the action that is meant.
pub(super) fn with_meant<'r>(
    rules: impl IntoIterator<Item = &'r PermissionRule>,
) -> impl Iterator<Item = PermissionRule> {
    let mut with_meant = Vec::<PermissionRule>::new();
    for rule in rules {
        with_meant.push(rule.clone());
        if let Some(meant) = meant_rule(rule) {
            let rules = restricting(with_meant.iter(), meant);
            with_meant.extend(rules);
        }
    }
    with_meant.into_iter()
}

/// Returns the rule about the action that a rule which restricts means, if its action is misspelt.
fn meant_rule(rule: &PermissionRule) -> Option<PermissionRule> {
    let misspelt = || misspelt(&rule.action, known());
    let meant = restricts_unknown(rule).then(misspelt).flatten()?;
    Some(PermissionRule {
        action: action_of_tool(meant).to_owned(),
        ..rule.clone()
    })
}

fn restricts_unknown(rule: &PermissionRule) -> bool {
    rule.effect != PermissionEffect::Allow && is_unknown(&rule.action)
}

/// True if an action is a name, and not one that the host knows.
fn is_unknown(action: &str) -> bool {
    !action.is_empty() && !action.contains(['*', '?']) && !known().any(|it| it == action)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(action: &str, effect: PermissionEffect) -> PermissionRule {
        PermissionRule {
            action: action.to_owned(),
            resource: "a".to_owned(),
            effect,
        }
    }

    #[test]
    fn a_rule_with_a_misspelt_name_restricts_what_is_meant() {
        use PermissionEffect::{Allow, Ask, Deny};
        for (action, meant) in [
            ("bsah", Some("bash")),
            ("Bash", Some("bash")),
            ("edits", Some("edit")),
            ("wirte", Some("edit")),
            ("aply_patch", Some("edit")),
            ("web_fetch", Some("webfetch")),
            ("externaldirectory", Some("external_directory")),
            ("external-directory", Some("external_directory")),
            ("todo_write", Some("todowrite")),
            ("bash", None),
            ("write", None),
            ("lsp", None),
            ("read_file", None),
            ("github_search", None),
            ("mcp_*", None),
            ("bsa*", None),
            ("", None),
        ] {
            for effect in [Allow, Ask, Deny] {
                let given = rule(action, effect);
                let expected = meant.filter(|_| effect != Allow);
                let expected = expected.map(|action| rule(action, effect));
                let expected: Vec<_> = [Some(given.clone()), expected]
                    .into_iter()
                    .flatten()
                    .collect();
                let found: Vec<_> = with_meant([&given]).collect();
                assert_eq!(found, expected, "{action}");
            }
        }
    }

    #[test]
    fn a_misspelt_question_does_not_loosen_a_denial() {
        use PermissionEffect::{Ask, Deny};
        let rules = [rule("bash", Deny), rule("bsah", Ask)];
        let found: Vec<_> = with_meant(&rules).collect();
        let expected = [&rules[..], &[rule("bash", Ask), rule("bash", Deny)]].concat();
        assert_eq!(found, expected);
    }
}
