//! Schemas that admit what one of several schemas admits, or what each of them does.

use opencode_llm::canonical::request::JsonMap;
use opencode_llm::normal_schema::unique;
use serde_json::{Value, json};

/// Returns one schema that admits what each of the schemas admits.
pub(super) fn joined(nodes: Vec<Value>, is_nullable: bool, annotations: JsonMap) -> Option<Value> {
    let mut nodes = merged(unique(nodes));
    if nodes
        .iter()
        .any(|node| node.as_object().is_some_and(JsonMap::is_empty))
    {
        return Some(Value::Object(annotations));
    }
    let mut out = match (nodes.len(), is_nullable) {
        (0, false) => return None,
        (0, true) => JsonMap::from_iter([("type".to_owned(), "null".into())]),
        (1, _) => {
            let Some(Value::Object(mut only)) = nodes.pop() else {
                return Some(Value::Object(annotations));
            };
            if is_nullable && only.get("type").is_none_or(|kind| kind != "null") {
                only.insert("nullable".to_owned(), true.into());
            }
            only
        }
        _ => {
            let mut choice = JsonMap::from_iter([("anyOf".to_owned(), Value::Array(nodes))]);
            if is_nullable {
                choice.insert("nullable".to_owned(), true.into());
            }
            choice
        }
    };
    for (keyword, value) in annotations {
        match (value, out.get("description").and_then(Value::as_str)) {
            (Value::String(text), Some(own)) if keyword == "description" && *own != text => {
                let both = format!("{text}\n{own}");
                out.insert(keyword, both.into());
            }
            (value, _) => {
                out.insert(keyword, value);
            }
        }
    }
    Some(Value::Object(out))
}

/// Joins the lists of values of schemas with one type that say nothing else.
fn merged(nodes: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    let is_list = |node: &Value| {
        let node = node.as_object();
        node.is_some_and(|it| it.len() == 2 && it.contains_key("type") && it.contains_key("enum"))
    };
    for node in nodes {
        let same = out.iter_mut().find(|known| {
            is_list(known) && is_list(&node) && known.get("type") == node.get("type")
        });
        let (Some(known), Some(Value::Array(more))) = (same, node.get("enum")) else {
            out.push(node);
            continue;
        };
        if let Some(Value::Array(values)) = known.get_mut("enum") {
            values.extend(more.iter().cloned());
            *values = unique(std::mem::take(values));
        }
    }
    out
}

/// Adds what a value must fulfil besides. `None` if no value fulfils both.
pub(super) fn both(own: &mut JsonMap, more: JsonMap) -> Option<()> {
    for (keyword, value) in more {
        let Some(known) = own.get_mut(&keyword) else {
            own.insert(keyword, value);
            continue;
        };
        match (keyword.as_str(), known, value) {
            ("type", known, value) => *known = common_kinds(known, &value)?,
            ("enum", Value::Array(known), Value::Array(values)) => {
                known.retain(|it| values.contains(it));
                if known.is_empty() {
                    return None;
                }
            }
            ("const", known, value) if *known != value => return None,
            ("properties", Value::Object(known), Value::Object(named)) => {
                for (name, schema) in named {
                    known.entry(name).or_insert(schema);
                }
            }
            ("required" | "allOf", Value::Array(known), Value::Array(names)) => {
                known.extend(names);
                *known = unique(std::mem::take(known));
            }
            _ => {}
        }
    }
    Some(())
}

fn common_kinds(one: &Value, two: &Value) -> Option<Value> {
    let names = |kinds: &Value| -> Vec<String> {
        let list = match kinds {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        list.iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let (one, two) = (names(one), names(two));
    let has = |list: &[String], kind: &str| {
        list.iter()
            .any(|it| it == kind || (it == "number" && kind == "integer"))
    };
    let mut common: Vec<&String> = one.iter().filter(|kind| has(&two, kind)).collect();
    common.extend(
        two.iter()
            .filter(|kind| has(&one, kind) && !one.contains(kind)),
    );
    match common.as_slice() {
        [] => None,
        [only] => Some(json!(only)),
        many => Some(json!(many)),
    }
}
