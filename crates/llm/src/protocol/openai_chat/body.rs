//! The request body.

use std::sync::Arc;

use serde_json::{Map, Number, Value, json};

use super::NAMESPACE;
use super::dialect::Dialect;
use super::messages::Transcript;
use crate::error::LlmError;
use crate::json as text;
use crate::protocol::prefix::{Pieces, Prefix, PrefixReport, Tally};
use crate::protocol::{overlay, tool_schema};
use crate::request::{GenerationControls, JsonMap, LlmRequest, ToolChoice, ToolDefinition};

/// Model Request Options with a plain member of their own.
const PLAIN_OPTIONS: [(&str, &str); 4] = [
    ("store", "store"),
    ("serviceTier", "service_tier"),
    ("parallelToolCalls", "parallel_tool_calls"),
    ("textVerbosity", "verbosity"),
];

/// What one request leaves for the next of the same conversation.
struct Written {
    transcript: Transcript,
    tally: Tally,
    tools: WrittenTools,
}

struct WrittenTools {
    definitions: Arc<[ToolDefinition]>,
    wire: Vec<u8>,
}

/// Writes the body.
pub(super) fn encode(request: &LlmRequest) -> Result<Vec<u8>, LlmError> {
    let dialect = Dialect::of(&request.model);
    let members = members(request, &dialect)?;
    let (written, _) = write_conversation(request, &dialect)?;

    let mut out = Vec::with_capacity(written.transcript.len() + written.tools.wire.len() + 1024);
    out.extend_from_slice(br#"{"model":"#);
    text::write(&mut out, &request.model.id);
    out.extend_from_slice(br#","messages":["#);
    let closing = request.closing.as_ref();
    written.transcript.render(closing, &mut out)?;
    out.push(b']');
    if !request.tools.is_empty() {
        out.extend_from_slice(br#","tools":"#);
        out.extend_from_slice(&written.tools.wire);
    }
    for (key, value) in &members {
        out.push(b',');
        text::write(&mut out, key);
        out.push(b':');
        text::write(&mut out, value);
    }
    out.push(b'}');
    request.prefix.store(written);
    Ok(out)
}

/// The cacheable prefix of the request, which is written with this.
pub(super) fn prefix(
    request: &LlmRequest,
    former: Option<&Prefix>,
) -> Result<PrefixReport, LlmError> {
    let dialect = Dialect::of(&request.model);
    let (mut written, replaced) = write_conversation(request, &dialect)?;
    let end = written.transcript.end();
    let now = Pieces {
        text: written.transcript.wire(),
        end: &end,
    };
    let before = replaced.as_ref();
    let before = before.map(|(transcript, tally)| (tally, transcript.wire()));
    let (prefix, reused) = written.tally.report(now, former, before);
    let same_form = match &replaced {
        Some((transcript, _)) => Some(*transcript.dialect() == dialect),
        None => (former.is_some() && reused > 0).then_some(true),
    };
    request.prefix.store(written);
    Ok(PrefixReport {
        prefix,
        reused,
        same_form,
    })
}

/// Writes what is new, or everything if the conversation does not go on from what was written. That
/// is returned as well then.
fn write_conversation(
    request: &LlmRequest,
    dialect: &Dialect,
) -> Result<(Written, Option<(Transcript, Tally)>), LlmError> {
    let before = request.prefix.take::<Written>();
    let (known, tools) = match before {
        Some(Written {
            transcript,
            tally,
            tools,
        }) => (Some((transcript, tally)), Some(tools)),
        None => (None, None),
    };
    // The schema subset is part of the dialect, so tools are reusable exactly when the transcript's
    // dialect is.
    let is_same_dialect = known
        .as_ref()
        .is_some_and(|(transcript, _)| transcript.dialect() == dialect);
    let tools = tools
        .filter(|tools| is_same_dialect && Arc::ptr_eq(&tools.definitions, &request.tools))
        .unwrap_or_else(|| write_tools(request, dialect));
    let goes_on = |transcript: &Transcript| {
        transcript.is_prefix_of(dialect, &request.system, &request.messages)
    };
    let (going_on, replaced) = match known {
        Some(known) if goes_on(&known.0) => (Some(known), None),
        other => (None, other),
    };
    let (mut transcript, tally) = going_on.unwrap_or_else(|| {
        let transcript = Transcript::new(dialect.clone(), &request.system);
        (transcript, Tally::default())
    });
    transcript.extend_to(&request.messages)?;
    let written = Written {
        transcript,
        tally,
        tools,
    };
    Ok((written, replaced))
}

fn write_tools(request: &LlmRequest, dialect: &Dialect) -> WrittenTools {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool_schema::for_openai(&tool.input_schema, dialect.tool_schema),
            }})
        })
        .collect();
    let mut wire = Vec::new();
    text::write(&mut wire, &tools);
    WrittenTools {
        definitions: Arc::clone(&request.tools),
        wire,
    }
}

/// Everything after the tools.
fn members(request: &LlmRequest, dialect: &Dialect) -> Result<JsonMap, LlmError> {
    let mut members = Map::new();
    // Servers refuse a choice among no tools.
    if let Some(choice) = &request.tool_choice
        && !request.tools.is_empty()
    {
        members.insert("tool_choice".to_owned(), tool_choice(choice));
    }
    members.insert("stream".to_owned(), Value::Bool(true));
    if dialect.usage_chunk {
        members.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    add_generation(&mut members, &request.effective_generation(), dialect);
    add_options(&mut members, &request.effective_options(NAMESPACE), dialect)?;
    overlay::apply(&mut members, &request.effective_overlay())?;
    Ok(members)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn add_generation(members: &mut JsonMap, controls: &GenerationControls, dialect: &Dialect) {
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.insert(key.to_owned(), value);
        }
    };
    // A number that JSON cannot express is as good as none.
    let number = |value: Option<f64>| value.and_then(Number::from_f64).map(Value::Number);
    let limit = if dialect.openai_reasoning {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    add(limit, controls.max_tokens.map(Value::from));
    if !dialect.openai_reasoning {
        add("temperature", number(controls.temperature));
        add("top_p", number(controls.top_p));
        add("frequency_penalty", number(controls.frequency_penalty));
        add("presence_penalty", number(controls.presence_penalty));
    }
    add("seed", controls.seed.map(Value::from));
    let stop = controls.stop.as_ref().filter(|stop| !stop.is_empty());
    add("stop", stop.map(|stop| json!(stop)));
}

fn add_options(
    members: &mut JsonMap,
    options: &JsonMap,
    dialect: &Dialect,
) -> Result<(), LlmError> {
    for (option, member) in PLAIN_OPTIONS {
        if let Some(value) = options.get(option).filter(|value| !value.is_null()) {
            members.insert(member.to_owned(), value.clone());
        }
    }
    match options.get("reasoningEffort") {
        None | Some(Value::Null) => Ok(()),
        // Compatible servers have levels of their own; OpenAI has no such level.
        Some(Value::String(effort)) if dialect.openai && effort == "max" => {
            Err(LlmError::invalid_request(format!(
                "openai-chat does not support reasoning effort {effort}"
            )))
        }
        Some(Value::String(effort)) => {
            members.insert("reasoning_effort".to_owned(), effort.as_str().into());
            Ok(())
        }
        Some(_) => Err(LlmError::invalid_request(
            "reasoningEffort must be a string",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ProtocolId, ResolvedModel};
    use crate::request::{Message, Part};

    #[test]
    fn what_was_written_is_kept_for_the_next_request() {
        let model = ResolvedModel::new("p", "m", ProtocolId::OpenAiChat, "http://localhost/v1");
        let mut request = LlmRequest::new(Arc::new(model));
        request.messages = vec![Message::user([Part::text("hi")])].into();
        // What closes a request is not repeated by the next.
        request.closing = Some(Message::assistant([Part::text("In short:")]));
        encode(&request).unwrap();
        let answer = Message::assistant([Part::text("Hi.")]);
        Arc::make_mut(&mut request.messages).push(answer);

        let written: Written = request.prefix.take().unwrap();
        let dialect = Dialect::of(&request.model);
        assert!(
            written
                .transcript
                .is_prefix_of(&dialect, &[], &request.messages)
        );
        assert!(Arc::ptr_eq(&written.tools.definitions, &request.tools));
        // An equal message is not known to be equal without reading it, so it counts as another.
        let lookalike = [Message::user([Part::text("hi")])];
        assert!(!written.transcript.is_prefix_of(&dialect, &[], &lookalike));
    }
}
