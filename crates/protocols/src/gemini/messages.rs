//! The messages of a conversation: `contents` of the user and of the model in turn.
//!
//! The user begins and has the last word. Consecutive messages of one side become one content, so the results of calls
//! that ran together stay together. A content stays open for further parts.

use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::request::{
    Message, Part, Role, ToolCallPart, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
use serde_json::{Map, Value, json};

use super::style::Style;
use super::{CALL_ID, CODE_EXECUTION, SIGNATURE, text_member};
use crate::alternating::{self, Alternating, Side};
use crate::blank::{is_blank, visible};
use crate::identifiers::tool_name;
use crate::media::{Attachment, Encoded};
use crate::transcript::{Form, Page};
use crate::{mid_conversation, tool_schema};

/// The documented signature of a call that no model signed: a call of another provider, or one that the host made.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The outcomes of code that the provider ran.
const OUTCOMES: [&str; 3] = ["OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"];

/// State between two messages.
#[derive(Clone, Default)]
pub(super) struct State {
    side: Side,
    /// The identifiers that the provider gave calls, by the identifiers of the calls. Results repeat them.
    given: Vec<(String, String)>,
}

impl Alternating for State {
    const USER: &'static [u8] = br#"{"role":"user","parts":["#;
    const MODEL: &'static [u8] = br#"{"role":"model","parts":["#;

    fn side(&mut self) -> &mut Side {
        &mut self.side
    }
}

impl Form for Style {
    type State = State;

    fn begin(&self, system: &[&str], page: &mut Page<State>) {
        if !system.is_empty() {
            page.raw(br#""systemInstruction":{"parts":"#);
            let parts: Vec<Value> = system.iter().map(|text| json!({"text": text})).collect();
            page.json(&parts);
            page.raw(b"},");
        }
        page.raw(br#""contents":["#);
    }

    fn push(&self, message: &Message, page: &mut Page<State>) {
        let mut writer = Writer { style: self, page };
        match message.role {
            Role::System => {
                let text = mid_conversation::wrapped(&message.content);
                writer.write(Side::User, &json!({"text": text}));
            }
            Role::User => writer.push_user(&message.content),
            Role::Assistant => writer.push_answer(&message.content),
            Role::Tool => writer.push_results(&message.content),
        }
    }

    /// Models refuse a content of the model at the end of a request, so the closing message is of the user.
    fn push_closing(&self, message: &Message, page: &mut Page<State>) {
        let text = mid_conversation::wrapped(&message.content);
        let mut writer = Writer { style: self, page };
        writer.write(Side::User, &json!({"text": text}));
    }

    fn settle(&self, _: &mut Page<State>) {}

    fn close(&self, page: &mut Page<State>) {
        alternating::close(page);
    }

    fn tool(&self, tool: &ToolDefinition) -> Value {
        let mut declaration = json!({"name": tool.name, "description": tool.description});
        if let Some(parameters) = tool_schema::for_gemini(&tool.input_schema) {
            declaration["parameters"] = (*parameters).clone();
        }
        declaration
    }
}

struct Writer<'a> {
    style: &'a Style,
    page: &'a mut Page<State>,
}

impl Writer<'_> {
    fn push_user(&mut self, content: &[Part]) {
        for part in content {
            let part = match part {
                Part::Text(text) if is_blank(&text.text) => continue,
                Part::Text(text) => json!({"text": text.text}),
                Part::Media(media) => file_part(Attachment::of(media, self.style.reads)),
                _ => continue,
            };
            self.write(Side::User, &part);
        }
    }

    fn push_answer(&mut self, content: &[Part]) {
        self.page.state.given.clear();
        let mut calls = 0;
        for part in content {
            match part {
                Part::Text(text) => {
                    let part = signed(json!({"text": text.text}), text.provider_metadata.as_ref());
                    // A blank text carries nothing but its signature.
                    if !is_blank(&text.text) || part.get(SIGNATURE).is_some() {
                        self.write(Side::Model, &part);
                    }
                }
                Part::Reasoning(reasoning) => {
                    let metadata = reasoning.provider_metadata.as_ref();
                    let part = signed(json!({"text": reasoning.text, "thought": true}), metadata);
                    if !is_blank(&reasoning.text) || part.get(SIGNATURE).is_some() {
                        self.write(Side::Model, &part);
                    }
                }
                Part::ToolCall(call) if call.provider_executed => self.push_hosted(call, content),
                Part::ToolCall(call) => {
                    self.push_call(call, calls == 0);
                    calls += 1;
                }
                Part::ToolResult(_) | Part::Media(_) => {}
            }
        }
    }

    /// Writes a call. The first call of a step needs a signature.
    fn push_call(&mut self, call: &ToolCallPart, is_first: bool) {
        let args = match &call.input {
            Value::Object(members) => members.clone(),
            other => Map::from_iter([("value".to_owned(), other.clone())]),
        };
        let mut function = json!({"name": tool_name(&call.name), "args": args});
        let metadata = call.provider_metadata.as_ref();
        if let Some(id) = text_member(metadata, CALL_ID) {
            function["id"] = id.into();
            let given = (call.id.clone(), id.to_owned());
            self.page.state.given.push(given);
        }
        let mut part = signed(json!({"functionCall": function}), metadata);
        if part.get(SIGNATURE).is_none() && is_first && self.style.is_signed {
            part[SIGNATURE] = UNSIGNED.into();
        }
        self.write(Side::Model, &part);
    }

    /// Writes code that the provider ran, with its result. Without both in the form of this protocol, it is left out.
    fn push_hosted(&mut self, call: &ToolCallPart, content: &[Part]) {
        let result = content.iter().find_map(|part| match part {
            Part::ToolResult(result) if result.id == call.id => Some(result),
            _ => None,
        });
        let Some(result) = result.filter(|_| call.name == CODE_EXECUTION) else {
            return;
        };
        let (ToolResultValue::Json(value) | ToolResultValue::Error(value)) = &result.result else {
            return;
        };
        let (Some(code), Some(ran)) = (code_of(&call.input), outcome_of(value)) else {
            return;
        };
        let code = signed(
            json!({"executableCode": code}),
            call.provider_metadata.as_ref(),
        );
        self.write(Side::Model, &code);
        let ran = signed(
            json!({"codeExecutionResult": ran}),
            result.provider_metadata.as_ref(),
        );
        self.write(Side::Model, &ran);
    }

    fn push_results(&mut self, content: &[Part]) {
        for part in content {
            if let Part::ToolResult(result) = part
                && !result.provider_executed
            {
                self.push_result(result);
            }
        }
    }

    fn push_result(&mut self, result: &ToolResultPart) {
        let name = tool_name(&result.name);
        let (text, files) = self.result_content(result);
        let mut response = json!({"name": name, "response": {"name": name, "content": text}});
        let given = self.page.state.given.iter();
        let mut given = given.filter(|(call, _)| *call == result.id);
        if let Some((_, id)) = given.next() {
            response["id"] = id.clone().into();
        }
        // Earlier models accept files only beside the result.
        if self.style.is_signed && !files.is_empty() {
            response["parts"] = files.into();
            self.write(Side::User, &json!({"functionResponse": response}));
            return;
        }
        self.write(Side::User, &json!({"functionResponse": response}));
        for file in &files {
            self.write(Side::User, file);
        }
    }

    /// Returns the text of a result and its files.
    fn result_content(&self, result: &ToolResultPart) -> (String, Vec<Value>) {
        let pieces = match result.result.as_text() {
            Ok(text) => return (visible(text).into_owned(), Vec::new()),
            Err(pieces) => pieces,
        };
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                ToolContent::Text { text } if is_blank(text) => {}
                ToolContent::Text { text } => texts.push(text.clone()),
                ToolContent::File { uri, mime, name } => {
                    match Attachment::new(mime, uri, name.as_deref(), self.style.reads) {
                        Attachment::Note(note) => texts.push(note),
                        file => files.push(file_part(file)),
                    }
                }
            }
        }
        (texts.join("\n"), files)
    }

    fn write(&mut self, side: Side, part: &Value) {
        alternating::write(self.page, side, part);
    }
}

/// Returns code that the provider ran, in the form of the protocol.
fn code_of(input: &Value) -> Option<Value> {
    let is_whole = input.get("language")?.is_string() && input.get("code")?.is_string();
    is_whole.then(|| known(input, &["id", "language", "code"]))
}

/// Returns the result of code that the provider ran, in the form of the protocol.
fn outcome_of(result: &Value) -> Option<Value> {
    let outcome = result.get("outcome")?.as_str()?;
    let is_text = result.get("output").is_none_or(Value::is_string);
    (OUTCOMES.contains(&outcome) && is_text).then(|| known(result, &["id", "outcome", "output"]))
}

/// Returns the members of an object that the protocol knows.
fn known(value: &Value, names: &[&str]) -> Value {
    let members = value.as_object().into_iter().flatten();
    let members =
        members.filter(|(name, value)| names.contains(&name.as_str()) && value.is_string());
    Value::Object(
        members
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Adds the signature that came with a part.
fn signed(mut part: Value, metadata: Option<&ProviderMetadata>) -> Value {
    if let Some(signature) = text_member(metadata, SIGNATURE) {
        part[SIGNATURE] = signature.into();
    }
    part
}

fn file_part(file: Attachment<'_>) -> Value {
    let inline = |file: Encoded<'_>| json!({"inlineData": {"mimeType": file.media_type, "data": file.base64}});
    match file {
        Attachment::Image(file) | Attachment::Sound(file) | Attachment::Pdf { file, .. } => {
            inline(file)
        }
        Attachment::Note(note) => json!({"text": note}),
    }
}
