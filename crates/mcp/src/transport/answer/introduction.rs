//! The result of the handshake. The library reads it as one strict type, and servers deviate from it.

use rmcp::model::{Implementation, InitializeResult, ServerCapabilities, ServerResult};
use serde_json::{Map, Value, json};

/// The experimental capability that stands for an unclear answer to the question whether the server has tools. No
/// server has it.
const UNCLEAR: &str = "opencode/unclear";

/// The capabilities that the host uses. Only their presence counts.
const KNOWN: [&str; 3] = ["tools", "prompts", "resources"];

/// Reads the result of the handshake. Members of another type are read where their meaning is certain, and are otherwise
/// as if missing. `None` if the version of the protocol is not usable, which has no default.
pub(super) fn introduction(result: &Value) -> Option<ServerResult> {
    let member = |name: &str| result.get(name).cloned().unwrap_or_default();
    let version = match member("protocolVersion") {
        Value::Number(number) => Value::String(number.to_string()),
        version => version,
    };
    let mut read = InitializeResult::new(capabilities(member("capabilities")));
    read.protocol_version = serde_json::from_value(version).ok()?;
    // The host shows the configured name of a server.
    read.server_info = serde_json::from_value(member("serverInfo"))
        .unwrap_or_else(|_| Implementation::new("unnamed", "0"));
    read.instructions = serde_json::from_value(member("instructions")).unwrap_or_default();
    read.meta = serde_json::from_value(member("_meta")).unwrap_or_default();
    Some(ServerResult::InitializeResult(read))
}

/// True if the server did not make clear whether it has tools.
pub(crate) fn has_unclear_tools(capabilities: &ServerCapabilities) -> bool {
    let experimental = capabilities.experimental.as_ref();
    experimental.is_some_and(|it| it.contains_key(UNCLEAR))
}

fn capabilities(given: Value) -> ServerCapabilities {
    let Value::Object(given) = given else {
        return unclear(Map::new());
    };
    let is_clear = given.get("tools").is_none_or(|it| is_there(it).is_some());
    let known = KNOWN.iter().filter(|name| {
        let value = given.get(**name);
        value.and_then(is_there) == Some(true)
    });
    let known: Map<String, Value> = known.map(|name| ((*name).to_owned(), json!({}))).collect();
    match is_clear {
        true => serde_json::from_value(Value::Object(known)).unwrap_or_default(),
        false => unclear(known),
    }
}

/// Returns whether a server with this value has the capability. Some languages write an empty object as an empty array.
fn is_there(value: &Value) -> Option<bool> {
    match value {
        Value::Object(_) | Value::Array(_) => Some(true),
        Value::Bool(is_there) => Some(*is_there),
        _ => None,
    }
}

fn unclear(mut known: Map<String, Value>) -> ServerCapabilities {
    known.insert("tools".to_owned(), json!({}));
    known.insert("experimental".to_owned(), json!({ UNCLEAR: {} }));
    serde_json::from_value(Value::Object(known)).unwrap_or_default()
}
