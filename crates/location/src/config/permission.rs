//! Permissions in the configuration, in both generations of the format: `permissions`, a list of rules,
//! and `permission` and `tools`, which are rules by action.

use opencode_declaration::configuration::MAX_RULES;
use opencode_schema::permission::{PermissionEffect, PermissionRule, action_of_tool};
use serde_json::{Map, Value};

use super::decode::{
    Decoded, Invalid, boolean, elements, entries, object, optional, required, text, wrong,
};

/// Matches every resource or every action.
const ANY: &str = "*";

/// Actions without resources that a rule could distinguish.
const FLAT: [&str; 5] = [
    "todowrite",
    "question",
    "webfetch",
    "websearch",
    "doom_loop",
];

/// Rules that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongRules {
    /// The path of the wrong value.
    pub path: String,
    /// The requirement for the value.
    pub message: String,
}

/// Reads rules in either form: a list, or effects by action. `name` is the name of the value in error messages.
///
/// # Errors
///
/// Reports the first wrong value. The message begins with its path and contains no value.
pub fn permission_rules(value: &Value, name: &str) -> Result<Vec<PermissionRule>, WrongRules> {
    let rules = match value {
        Value::Array(_) => decode(value),
        _ => decode_older(value),
    };
    rules.map_err(|invalid| {
        let invalid = invalid.at(name);
        WrongRules {
            path: invalid.place(),
            message: invalid.to_string(),
        }
    })
}

/// Reads a list of rules.
pub(super) fn decode(value: &Value) -> Decoded<Vec<PermissionRule>> {
    bounded(elements(value, |value| {
        let source = object(value)?;
        Ok(PermissionRule {
            action: required(source, "action", text)?,
            resource: required(source, "resource", text)?,
            effect: required(source, "effect", effect)?,
        })
    })?)
}

/// Reads rules by action: one effect for everything, or for each action either one effect or effects by
/// resource.
pub(super) fn decode_older(value: &Value) -> Decoded<Vec<PermissionRule>> {
    bounded(flatten(by_action(value)?))
}

/// Reads the switches that turn tools on and off.
pub(super) fn tools(value: &Value) -> Decoded<Vec<PermissionRule>> {
    bounded(flatten(switches(value)?))
}

/// Reads `tools` and `permission` of an agent. For an action in both, `permission` replaces the rules from `tools`.
pub(super) fn of_agent(source: &Map<String, Value>) -> Decoded<Vec<PermissionRule>> {
    let mut actions: Vec<Action> = Vec::new();
    let switched = optional(source, "tools", switches)?.unwrap_or_default();
    let ruled = optional(source, "permission", by_action)?.unwrap_or_default();
    for (action, rules) in switched.into_iter().chain(ruled) {
        match actions.iter_mut().find(|(known, _)| *known == action) {
            Some((_, known)) => *known = rules,
            None => actions.push((action, rules)),
        }
    }
    bounded(flatten(actions))
}

/// An action with the effects for its resources, in order.
type Action = (String, Vec<(String, PermissionEffect)>);

fn by_action(value: &Value) -> Decoded<Vec<Action>> {
    if value.is_string() {
        return Ok(vec![(ANY.to_owned(), everywhere(effect(value)?))]);
    }
    let by_action = value
        .as_object()
        .ok_or_else(|| wrong("a string or an object", value))?;
    bounded(by_action.iter().collect())?;
    entries(value, |action, value| {
        let rules = match value {
            Value::String(_) => everywhere(effect(value)?),
            Value::Object(_) if FLAT.contains(&action) => {
                return Err(Invalid::new(
                    "must be \"allow\", \"deny\" or \"ask\": it has no resources to tell apart",
                ));
            }
            Value::Object(_) => entries(value, |resource, value| {
                Ok((resource.to_owned(), effect(value)?))
            })?,
            other => return Err(wrong("a string or an object", other)),
        };
        Ok((action.to_owned(), rules))
    })
}

fn switches(value: &Value) -> Decoded<Vec<Action>> {
    bounded(object(value)?.iter().collect())?;
    entries(value, |tool, value| {
        let action = action_of_tool(tool);
        let effect = match boolean(value)? {
            true => PermissionEffect::Allow,
            false => PermissionEffect::Deny,
        };
        Ok((action.to_owned(), everywhere(effect)))
    })
}

fn everywhere(effect: PermissionEffect) -> Vec<(String, PermissionEffect)> {
    vec![(ANY.to_owned(), effect)]
}

fn flatten(actions: Vec<Action>) -> Vec<PermissionRule> {
    let rules = actions.into_iter().flat_map(|(action, rules)| {
        rules
            .into_iter()
            .map(move |(resource, effect)| PermissionRule {
                action: action.clone(),
                resource,
                effect,
            })
    });
    rules.collect()
}

fn effect(value: &Value) -> Decoded<PermissionEffect> {
    match text(value)?.as_str() {
        "allow" => Ok(PermissionEffect::Allow),
        "deny" => Ok(PermissionEffect::Deny),
        "ask" => Ok(PermissionEffect::Ask),
        _ => Err(Invalid::new("must be \"allow\", \"deny\" or \"ask\"")),
    }
}

fn bounded<T>(rules: Vec<T>) -> Decoded<Vec<T>> {
    if rules.len() > MAX_RULES {
        return Err(Invalid::new(format!("must have at most {MAX_RULES} rules")));
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Formats rules as `action resource effect`, or returns the error.
    fn shown(rules: Decoded<Vec<PermissionRule>>) -> Result<Vec<String>, String> {
        let effect = |effect| match effect {
            PermissionEffect::Allow => "allow",
            PermissionEffect::Deny => "deny",
            PermissionEffect::Ask => "ask",
        };
        let line =
            |it: PermissionRule| format!("{} {} {}", it.action, it.resource, effect(it.effect));
        match rules {
            Ok(rules) => Ok(rules.into_iter().map(line).collect()),
            Err(invalid) => Err(invalid.to_string()),
        }
    }

    fn lines(expected: &[&str]) -> Result<Vec<String>, String> {
        Ok(expected.iter().map(|it| (*it).to_owned()).collect())
    }

    #[test]
    fn older_forms_are_rules_in_written_order() {
        for (value, expected) in [
            (json!("ask"), &["* * ask"][..]),
            (json!({}), &[]),
            (json!({"bash": "deny"}), &["bash * deny"]),
            (
                json!({"bash": {"git *": "allow", "*": "ask"}, "edit": "deny"}),
                &["bash git * allow", "bash * ask", "edit * deny"],
            ),
            (
                json!({"*": "ask", "todowrite": "allow"}),
                &["* * ask", "todowrite * allow"],
            ),
            (json!({"bash": {}}), &[]),
        ] {
            assert_eq!(shown(decode_older(&value)), lines(expected), "{value}");
        }
    }

    #[test]
    fn tools_are_switched_by_action() {
        let value = json!({"glob": false, "write": true, "patch": false, "mcp_x": true});
        assert_eq!(
            shown(tools(&value)),
            lines(&[
                "glob * deny",
                "edit * allow",
                "edit * deny",
                "mcp_x * allow"
            ])
        );
    }

    #[test]
    fn the_permission_of_an_agent_overrides_its_tools() {
        for (value, expected) in [
            (json!({}), &[][..]),
            (
                json!({"tools": {"write": true, "bash": true, "edit": false}}),
                &["edit * deny", "bash * allow"],
            ),
            (
                json!({
                    "permission": {"edit": {"a": "ask"}, "read": "deny"},
                    "tools": {"patch": false, "bash": true},
                }),
                &["edit a ask", "bash * allow", "read * deny"],
            ),
            (
                json!({"permission": "ask", "tools": {"bash": false}}),
                &["bash * deny", "* * ask"],
            ),
        ] {
            let rules = of_agent(value.as_object().unwrap());
            assert_eq!(shown(rules), lines(expected), "{value}");
        }
    }

    #[test]
    fn a_list_of_rules_is_read_as_it_is() {
        let value = json!([
            {"action": "*", "resource": "*", "effect": "ask"},
            {"action": "bash", "resource": "ls *", "effect": "allow", "unknown": 1},
        ]);
        assert_eq!(
            shown(decode(&value)),
            lines(&["* * ask", "bash ls * allow"])
        );
    }

    #[test]
    fn problems_name_their_path() {
        let many = Value::Object((0..1_001).map(|it| (it.to_string(), json!(true))).collect());
        let rule = json!({"action": "a", "resource": "b", "effect": "ask"});
        for (rules, expected) in [
            (
                decode_older(&json!(1)),
                "The document must be a string or an object, found a number",
            ),
            (
                decode_older(&json!("maybe")),
                "The document must be \"allow\", \"deny\" or \"ask\"",
            ),
            (
                decode_older(&json!({"a": true})),
                "a must be a string or an object, found a boolean",
            ),
            (
                decode_older(&json!({"a": {"b": 1}})),
                "a.b must be a string, found a number",
            ),
            (
                decode_older(&json!({"webfetch": {"*": "ask"}})),
                "webfetch must be \"allow\", \"deny\" or \"ask\": it has no resources to tell apart",
            ),
            (
                tools(&json!({"a": "deny"})),
                "a must be true or false, found a string",
            ),
            (tools(&many), "The document must have at most 1000 rules"),
            (
                decode(&json!({})),
                "The document must be an array, found an object",
            ),
            (
                decode(&json!([rule, {"action": "a"}])),
                "[1].resource is missing",
            ),
            (
                decode(&Value::Array(vec![rule.clone(); 1_001])),
                "The document must have at most 1000 rules",
            ),
        ] {
            assert_eq!(shown(rules), Err(expected.to_owned()));
        }
    }
}
