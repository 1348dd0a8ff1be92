use serde_json::json;

use super::*;

fn members(value: Value) -> Members {
    let Value::Object(members) = value else {
        panic!("{value}")
    };
    Members(members)
}

fn headers(name: &str, value: &str) -> Headers {
    let mut headers = Headers::default();
    headers.set(name, value);
    headers
}

fn rules(value: Value) -> Vec<PermissionRule> {
    permission::decode(&value).unwrap()
}

#[test]
fn both_generations_produce_the_same_patches() {
    let patch = AgentPatch {
        earlier: Vec::new(),
        model: selection::parse_model("p/m#low"),
        variant: Some("high".to_owned()),
        headers: Headers::default(),
        body: members(json!({"top_p": 0.5, "x": 1, "temperature": 0.1, "y": [2]})),
        system: Some("s".to_owned()),
        description: Some("d".to_owned()),
        mode: Some(AgentMode::Subagent),
        hidden: Some(true),
        color: Some(AgentColor::parse("#00FF00").unwrap()),
        steps: Some(7),
        disabled: Some(false),
        permissions: rules(json!([
            {"action": "edit", "resource": "*", "effect": "deny"},
            {"action": "bash", "resource": "ls", "effect": "allow"},
        ])),
    };
    let newer = json!({
        "model": "p/m#low", "variant": "high", "system": "s", "description": "d",
        "request": {"body": {"top_p": 0.5, "x": 1, "temperature": 0.1, "y": [2]}},
        "mode": "subagent", "hidden": true, "color": "#00FF00", "steps": 7, "disabled": false,
        "permissions": [
            {"action": "edit", "resource": "*", "effect": "deny"},
            {"action": "bash", "resource": "ls", "effect": "allow"},
        ],
    });
    let older = json!({
        "model": {"providerID": "p", "id": "m", "variant": "low"}, "variant": "high",
        "prompt": "s", "description": "d", "name": "dropped",
        "options": {"top_p": 0.5, "x": 1}, "temperature": 0.1, "y": [2],
        "mode": "subagent", "hidden": true, "color": "#00FF00", "maxSteps": 7, "disable": false,
        "tools": {"write": false}, "permission": {"bash": {"ls": "allow"}},
    });
    let expected = Ok(vec![("a".to_owned(), patch)]);
    assert_eq!(decode(&json!({ "a": newer })), expected);
    assert_eq!(decode_older(&json!({ "a": older })), expected);
}

#[test]
fn the_newer_generation_overrides_the_older_one() {
    let value = json!({"a": {
        "prompt": "older", "system": "newer",
        "maxSteps": 3, "steps": 2,
        "disable": true, "disabled": false,
        "options": {"x": 1, "z": 3}, "y": 1,
        "request": {"headers": {"H": "v"}, "body": {"x": 2, "y": 2}},
        "permission": "ask",
        "permissions": [{"action": "a", "resource": "b", "effect": "deny"}],
    }});
    let expected = AgentPatch {
        system: Some("newer".to_owned()),
        steps: Some(2),
        disabled: Some(false),
        headers: headers("H", "v"),
        body: members(json!({"x": 2, "z": 3, "y": 2})),
        permissions: rules(json!([
            {"action": "*", "resource": "*", "effect": "ask"},
            {"action": "a", "resource": "b", "effect": "deny"},
        ])),
        ..AgentPatch::default()
    };
    assert_eq!(decode_older(&value), Ok(vec![("a".to_owned(), expected)]));
}

#[test]
fn modes_are_primary_agents() {
    let modes = decode_modes(&json!({"a": {"mode": "subagent"}, "b": {}})).unwrap();
    let modes: Vec<_> = modes.into_iter().map(|(id, it)| (id, it.mode)).collect();
    let primary = Some(AgentMode::Primary);
    assert_eq!(
        modes,
        [("a".to_owned(), primary), ("b".to_owned(), primary)]
    );
}

#[test]
fn the_fields_of_a_file_determine_its_generation() {
    let newer = decode_fields(&json!({"steps": 2, "system": "s"})).unwrap();
    assert_eq!((newer.steps, newer.system.as_deref()), (Some(2), Some("s")));
    let older = decode_fields(&json!({"steps": 2, "temperature": 1})).unwrap();
    assert_eq!(older.body, members(json!({"temperature": 1})));
    assert_eq!(decode_fields(&json!({})), Ok(AgentPatch::default()));
}

#[test]
fn steps_are_a_whole_number_from_one_on() {
    let steps = |value: Value| {
        let decoded = decode(&json!({"a": {"steps": value}}));
        decoded.map(|agents| agents[0].1.steps)
    };
    for (value, expected) in [(json!(1), 1), (json!(3.0), 3), (json!(1e12), u32::MAX)] {
        assert_eq!(steps(value), Ok(Some(expected)));
    }
}

#[test]
fn invalid_values_are_reported_with_their_path() {
    let steps = "a.steps must be a whole number of at least 1";
    let color = "a.color must be a colour such as \"#7fa0ff\", or one of \"primary\", \"secondary\", \"accent\", \"success\", \"warning\", \"error\", \"info\"";
    for (fields, expected) in [
        (json!({"steps": 0}), steps),
        (json!({"steps": -1}), steps),
        (json!({"steps": 1.5}), steps),
        (json!({"steps": "5"}), steps),
        (json!({"steps": null}), steps),
        (json!({"color": "red"}), color),
        (json!({"color": "#fff"}), color),
        (
            json!({"mode": "secondary"}),
            "a.mode must be \"subagent\", \"primary\" or \"all\"",
        ),
        (
            json!({"request": {"headers": {"a b": "c"}}}),
            "a.request.headers.a b is not the name of an HTTP header",
        ),
        (
            json!({"permissions": [{"action": "a", "resource": "b", "effect": "maybe"}]}),
            "a.permissions[0].effect must be \"allow\", \"deny\" or \"ask\"",
        ),
        (
            json!({"hidden": "yes"}),
            "a.hidden must be true or false, found a string",
        ),
    ] {
        let value = json!({ "a": fields });
        for decode in [decode, decode_older] {
            let invalid = decode(&value).unwrap_err();
            assert_eq!(invalid.to_string(), expected, "{value}");
        }
    }
    for (fields, expected) in [
        (
            json!({"prompt": 1}),
            "a.prompt must be a string, found a number",
        ),
        (
            json!({"tools": {"x": "no"}}),
            "a.tools.x must be true or false, found a string",
        ),
        (
            json!({"temperature": "hot"}),
            "a.temperature must be a number, found a string",
        ),
        (
            json!({"options": {"temperature": "hot"}}),
            "a.options.temperature must be a number, found a string",
        ),
        (
            json!({"permission": {"doom_loop": {"*": "ask"}}}),
            "a.permission.doom_loop must be \"allow\", \"deny\" or \"ask\": it has no resources to tell apart",
        ),
    ] {
        let value = json!({ "a": fields });
        assert_eq!(decode_older(&value).unwrap_err().to_string(), expected);
        // The newer generation reads only the limits among the older fields.
        let is_limit = ["a.tools", "a.permission"]
            .iter()
            .any(|limit| expected.starts_with(limit));
        let newer = decode(&value).map_err(|invalid| invalid.to_string());
        assert_eq!(newer.err().as_deref(), is_limit.then_some(expected));
    }
    let names = json!({"a\nb": {}, "": {}});
    for name in names.as_object().unwrap().keys() {
        let value = json!({ name: {} });
        for decode in [decode, decode_older, decode_modes] {
            let message = decode(&value).unwrap_err().to_string();
            let expected = format!("{name} must have a name without control characters");
            assert_eq!(message, expected);
        }
    }
}

#[test]
fn older_limits_count_in_the_newer_generation() {
    let written = json!({"a": {
        "permission": {"bash": "deny"}, "tools": {"read": false}, "disable": true,
        "permissions": [{"action": "bash", "resource": "ls", "effect": "allow"}],
    }});
    let decoded = decode(&written).unwrap();
    let (_, patch) = &decoded[0];
    assert_eq!(patch.disabled, Some(true));
    let older = decode_older(&written).unwrap();
    assert_eq!(patch.permissions, older[0].1.permissions);
    assert_eq!(patch.permissions.len(), 3);
}
