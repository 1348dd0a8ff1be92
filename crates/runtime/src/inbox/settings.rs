//! Settings of prompts: their limits, and the system text that the model reads.

use opencode_schema::prompt::{PromptOutput, PromptSettings};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::json::json_bytes;
use crate::sessions::{check_agent, check_model, check_name};
use crate::structured::OutputSchema;

/// Maximum size in bytes of the system text.
const MAX_SYSTEM_BYTES: usize = 256 * 1024;
/// Maximum number of named tools.
const MAX_TOOLS: usize = 1000;
/// Maximum size in bytes of a schema as JSON.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// Maximum nesting of a schema.
const MAX_SCHEMA_DEPTH: usize = 64;
/// Maximum length of the name of an output, which providers limit for tools.
const MAX_OUTPUT_NAME: usize = 64;
/// Maximum number of further attempts.
const MAX_RETRIES: u32 = 10;

/// Text before the system text of a prompt.
const SYSTEM_HEADING: &str = "\
The following applies to the next request of the user, and to no request after that one is done:";

/// The model reads this if a steer replaces the settings of its activity by settings without a system text.
pub(super) const SYSTEM_ENDED: &str = "\
The text that applied to the current request of the user alone does not apply any more.";

/// Returns the Mid-Conversation System Message with the system text of a prompt.
pub(crate) fn system_message(system: &str) -> String {
    format!("{SYSTEM_HEADING}\n\n{system}")
}

/// Returns the settings in the form in which they are admitted: absent if the caller gave none, and with the variant as
/// a part of the model.
///
/// # Errors
///
/// Fails for the first value that is out of its limits.
pub(super) fn admit(
    mut settings: PromptSettings,
) -> Result<Option<Box<PromptSettings>>, RuntimeError> {
    if let Some(model) = &mut settings.model
        && let Some(variant) = settings.variant.take()
    {
        model.variant = Some(variant);
    }
    if settings == PromptSettings::default() {
        return Ok(None);
    }
    check(&settings)?;
    Ok(Some(Box::new(settings)))
}

fn check(settings: &PromptSettings) -> Result<(), RuntimeError> {
    let size = settings.system.as_ref().map_or(0, String::len);
    if size > MAX_SYSTEM_BYTES {
        return Err(invalid(
            "system",
            format!("system has {size} bytes, and at most {MAX_SYSTEM_BYTES} are accepted"),
        ));
    }
    let tools = settings.tools.iter().flatten();
    let count = tools.clone().count();
    if count > MAX_TOOLS {
        return Err(invalid(
            "tools",
            format!("tools has {count} names, and at most {MAX_TOOLS} are accepted"),
        ));
    }
    for (name, _) in tools {
        if name.is_empty() {
            let message = "tools has an empty name; use the name of a tool, or \"*\" for all";
            return Err(invalid("tools", message.to_owned()));
        }
        check_name("tools", name)?;
    }
    if let Some(agent) = &settings.agent {
        check_agent(agent)?;
    }
    if let Some(model) = &settings.model {
        check_model(model)?;
    }
    if let Some(variant) = &settings.variant {
        check_name("variant", variant)?;
    }
    settings.output.as_ref().map_or(Ok(()), check_output)
}

fn check_output(output: &PromptOutput) -> Result<(), RuntimeError> {
    if let Some(name) = &output.name
        && !is_output_name(name)
    {
        return Err(invalid(
            "output.name",
            format!(
                "output.name must be a letter, then letters, digits, \"_\" or \"-\", at most {MAX_OUTPUT_NAME} characters; it is {name:?}"
            ),
        ));
    }
    if let Some(retries) = output.retries.filter(|retries| *retries > MAX_RETRIES) {
        return Err(invalid(
            "output.retries",
            format!("output.retries must be from 0 to {MAX_RETRIES}; it is {retries}"),
        ));
    }
    let bytes = json_bytes(&output.schema);
    if bytes > MAX_SCHEMA_BYTES {
        return Err(invalid(
            "output.schema",
            format!(
                "output.schema has {bytes} bytes as JSON, and at most {MAX_SCHEMA_BYTES} are accepted"
            ),
        ));
    }
    if output
        .schema
        .values()
        .any(|value| is_deeper(value, MAX_SCHEMA_DEPTH - 1))
    {
        return Err(invalid(
            "output.schema",
            format!("output.schema is nested more than {MAX_SCHEMA_DEPTH} levels deep"),
        ));
    }
    if output.schema.get("type") != Some(&Value::from("object")) {
        let message = "output.schema must describe an object: its type must be \"object\"";
        return Err(invalid("output.schema", message.to_owned()));
    }
    let problem = |problem: String| {
        let message = format!("output.schema is not a JSON Schema that can be used: {problem}");
        invalid("output.schema", message)
    };
    OutputSchema::new(&output.schema).map(drop).map_err(problem)
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut parts: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return false,
    };
    levels == 0 || parts.any(|part| is_deeper(part, levels - 1))
}

fn is_output_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next();
    first.is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && name.len() <= MAX_OUTPUT_NAME
}

fn invalid(field: &'static str, message: String) -> RuntimeError {
    RuntimeError::InvalidSettings { field, message }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opencode_schema::model::ModelRef;
    use serde_json::json;

    use super::*;

    fn settings(value: Value) -> PromptSettings {
        serde_json::from_value(value).unwrap()
    }

    fn nested(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, _| json!({ "not": inner }))
    }

    fn schema(levels: usize) -> Value {
        json!({ "type": "object", "not": nested(levels - 1) })
    }

    #[test]
    fn settings_out_of_their_limits_are_refused_with_their_field() {
        let many: BTreeMap<String, bool> = (0..1001).map(|n| (format!("t{n}"), true)).collect();
        let object = json!({ "type": "object" });
        for (given, field) in [
            (
                json!({ "system": "a".repeat(MAX_SYSTEM_BYTES + 1) }),
                "system",
            ),
            (json!({ "tools": many }), "tools"),
            (json!({ "tools": { "": true } }), "tools"),
            (json!({ "tools": { "a".repeat(1025): true } }), "tools"),
            (json!({ "agent": "a".repeat(1025) }), "agent"),
            (json!({ "variant": "a".repeat(1025) }), "variant"),
            (json!({ "output": { "schema": {} } }), "output.schema"),
            (
                json!({ "output": { "schema": { "type": "array" } } }),
                "output.schema",
            ),
            (
                json!({ "output": { "schema": schema(65) } }),
                "output.schema",
            ),
            (
                json!({ "output": { "schema": { "type": "object", "title": "a".repeat(65536) } } }),
                "output.schema",
            ),
            (
                json!({ "output": { "schema": object, "name": "" } }),
                "output.name",
            ),
            (
                json!({ "output": { "schema": object, "name": "1a" } }),
                "output.name",
            ),
            (
                json!({ "output": { "schema": object, "name": "a b" } }),
                "output.name",
            ),
            (
                json!({ "output": { "schema": object, "name": "a".repeat(65) } }),
                "output.name",
            ),
            (
                json!({ "output": { "schema": object, "retries": 11 } }),
                "output.retries",
            ),
        ] {
            let refused = match admit(settings(given.clone())).unwrap_err() {
                RuntimeError::InvalidSettings { field, .. } => field,
                RuntimeError::NameTooLong { field, .. } => field,
                other => panic!("{other}"),
            };
            assert_eq!(refused, field, "{given}");
        }
    }

    #[test]
    fn settings_within_their_limits_are_admitted() {
        for given in [
            json!({ "system": "" }),
            json!({ "system": "a".repeat(MAX_SYSTEM_BYTES) }),
            json!({ "tools": {} }),
            json!({ "tools": { "mcp_*": false, "read": true } }),
            json!({ "agent": "plan", "variant": "high" }),
            json!({ "output": { "schema": schema(64), "name": "answer-1", "retries": 10 } }),
        ] {
            let admitted = admit(settings(given.clone())).unwrap();
            assert_eq!(json!(admitted), given);
        }
    }

    #[test]
    fn no_settings_are_absent() {
        assert_eq!(admit(settings(json!({}))).unwrap(), None);
    }

    #[test]
    fn the_variant_becomes_a_part_of_the_model() {
        let given = json!({ "model": { "id": "m", "providerID": "p" }, "variant": "high" });
        let admitted = admit(settings(given)).unwrap().unwrap();
        let expected = ModelRef {
            id: "m".to_owned(),
            provider_id: "p".to_owned(),
            variant: Some("high".to_owned()),
        };
        assert_eq!((admitted.model, admitted.variant), (Some(expected), None));
    }
}
