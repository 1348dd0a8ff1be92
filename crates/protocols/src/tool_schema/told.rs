//! Words for all that a form for a provider cannot express.

use opencode_llm::canonical::request::JsonMap;
use serde_json::Value;

use super::flat::describe;
use super::names::Names;

/// Maximum length of a text about keywords, in characters.
const MAX_TEXT: usize = 400;

/// Adds the keywords of a reduced schema that the form does not have to its description.
pub(super) fn tell(reduced: &JsonMap, said: &[&str], out: &mut JsonMap) {
    let mut unsaid = Vec::new();
    for (keyword, value) in reduced {
        let keyword = keyword.as_str();
        let text = match (keyword, value) {
            ("title" | "description" | "default" | "anyOf" | "prefixItems", _) => continue,
            (_, _) if said.contains(&keyword) => continue,
            ("additionalProperties", Value::Bool(false)) => continue,
            ("additionalProperties", Value::Bool(true)) => "more properties are allowed".to_owned(),
            ("additionalProperties", schema) => format!("more properties are allowed: {schema}"),
            (_, Value::String(text)) => format!("{keyword}: {text}"),
            (_, value) => format!("{keyword}: {value}"),
        };
        unsaid.push(text);
    }
    if !unsaid.is_empty() {
        let text: String = unsaid.join(", ").chars().take(MAX_TEXT).collect();
        describe(out, &format!("({text})"));
    }
}

/// Writes the properties of a reduced schema under names that are accepted, and the list of the required ones. `node`
/// writes a schema.
pub(super) fn properties(
    reduced: &JsonMap,
    names: Names,
    node: fn(JsonMap) -> JsonMap,
    out: &mut JsonMap,
) {
    let Some(Value::Object(properties)) = reduced.get("properties") else {
        return;
    };
    let replaced = names.replaced(properties);
    let mut named = JsonMap::new();
    for (name, child) in properties {
        let Value::Object(child) = child else {
            continue;
        };
        let mut child = child.clone();
        let wire = replaced.wire(name);
        if wire != name {
            tell_name(name, &mut child);
        }
        named.insert(wire.to_owned(), Value::Object(node(child)));
    }
    out.insert("properties".to_owned(), Value::Object(named));
    if let Some(Value::Array(required)) = reduced.get("required") {
        let required = required.iter().filter_map(Value::as_str);
        let required: Vec<&str> = required.map(|name| replaced.wire(name)).collect();
        out.insert("required".to_owned(), required.into());
    }
}

/// Adds the name that the tool gives to a property.
pub(super) fn tell_name(name: &str, out: &mut JsonMap) {
    let name: String = name.chars().take(MAX_TEXT).collect();
    describe(out, &format!("(The tool calls it `{name}`.)"));
}
