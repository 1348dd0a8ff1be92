//! `mcp`: servers of the Model Context Protocol. No session uses them yet. Their shape is checked
//! anyway, so that mistakes are reported early.

use serde_json::{Map, Value};

use super::decode::{
    Decoded, Invalid, boolean, count, entries, object, optional, required, text, texts,
};
use super::document::Draft;

/// Checks the key. Reports members that drafts of the format define and this version does not know.
pub(super) fn read(draft: &mut Draft<'_>, value: &Value) -> Decoded<()> {
    check(value)?;
    let member = |path: &[&str]| {
        let found = path.iter().try_fold(value, |value, name| value.get(name));
        found.and_then(Value::as_object)
    };
    let mut unknown = Vec::new();
    if member(&["timeout"]).is_some_and(|timeout| timeout.contains_key("catalog")) {
        unknown.push(vec!["mcp", "timeout", "catalog"]);
    }
    for (name, server) in member(&["servers"]).into_iter().flatten() {
        if server.get("codemode").is_some() {
            unknown.push(vec!["mcp", "servers", name, "codemode"]);
        }
    }
    for path in unknown {
        draft.unknown(&path);
    }
    Ok(())
}

/// Checks both forms: `{timeout, servers}`, and the older form, in which the members are the servers.
fn check(value: &Value) -> Decoded<()> {
    entries(value, |name, value| match (name, value) {
        ("timeout", Value::Object(timeout)) if !names_a_kind(timeout) => timeouts(timeout),
        ("servers", Value::Object(servers)) if !names_a_kind(servers) => {
            entries(value, |_, value| server(object(value)?)).map(drop)
        }
        _ => older_server(object(value)?),
    })
    .map(drop)
}

fn timeouts(source: &Map<String, Value>) -> Decoded<()> {
    for name in ["startup", "request", "catalog", "execution"] {
        optional(source, name, count)?;
    }
    Ok(())
}

/// True if the object itself is a server with the name `servers` or `timeout`.
fn names_a_kind(source: &Map<String, Value>) -> bool {
    source.get("type").is_some_and(Value::is_string)
}

/// Checks a server of the older form. An entry with only `enabled` refers to a server that another program defines.
fn older_server(source: &Map<String, Value>) -> Decoded<()> {
    if !source.contains_key("type") {
        return optional(source, "enabled", boolean).map(drop);
    }
    server(source)
}

fn server(source: &Map<String, Value>) -> Decoded<()> {
    for name in ["enabled", "disabled"] {
        optional(source, name, boolean)?;
    }
    let kind = required(source, "type", text)?;
    let named_texts = match kind.as_str() {
        "local" => {
            required(source, "command", texts)?;
            "environment"
        }
        "remote" => {
            required(source, "url", text)?;
            "headers"
        }
        _ => return Err(Invalid::new("must be \"local\" or \"remote\"").at("type")),
    };
    optional(source, named_texts, |value| {
        entries(value, |_, value| text(value).map(drop))
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_are_checked() {
        let local = json!({"type": "local", "command": ["a", "b"], "environment": {"A": "b"}});
        let remote = json!({"type": "remote", "url": "https://h", "headers": {"A": "b"}});
        for value in [
            json!({}),
            json!({"timeout": {"startup": 1, "request": 2}, "servers": {}}),
            json!({"servers": {"a": local, "b": remote}, "timeout": {"execution": 5}}),
            json!({"a": local, "b": remote, "c": {"enabled": false}}),
            json!({"servers": local, "timeout": remote}),
        ] {
            assert_eq!(check(&value), Ok(()), "{value}");
        }
        for (value, complaint) in [
            (json!([]), "The document must be an object, found an array"),
            (json!({"a": 1}), "a must be an object, found a number"),
            (
                json!({"a": {"enabled": "no"}}),
                "a.enabled must be true or false, found a string",
            ),
            (
                json!({"a": {"type": "pipe"}}),
                "a.type must be \"local\" or \"remote\"",
            ),
            (
                json!({"servers": {"a": {"command": ["x"]}}}),
                "servers.a.type is missing",
            ),
            (
                json!({"servers": {"a": {"type": "local", "command": "x"}}}),
                "servers.a.command must be an array, found a string",
            ),
            (
                json!({"servers": {"a": {"type": "remote"}}}),
                "servers.a.url is missing",
            ),
            (
                json!({"timeout": {"request": "5"}}),
                "timeout.request must be a number, found a string",
            ),
        ] {
            assert_eq!(check(&value).unwrap_err().to_string(), complaint);
        }
    }
}
