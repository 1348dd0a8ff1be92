//! The request body: the conversation, the tools and the members of this request alone.

use std::sync::Arc;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::json;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::{JsonMap, LlmRequest, ToolDefinition};
use serde_json::{Map, Number, Value};

use super::overlay;
use super::prefix::{Pieces, PrefixHasher};
use super::transcript::{Form, Transcript};

/// The output that one request stores for the next request of the same conversation.
struct Written<F: Form> {
    transcript: Transcript<F>,
    tally: PrefixHasher,
    tools: WrittenTools,
}

struct WrittenTools {
    definitions: Arc<[ToolDefinition]>,
    /// The elements of the JSON array of tools.
    wire: Vec<u8>,
}

/// The parts of a body other than the conversation and its tools.
pub(super) struct Frame {
    /// True if the body names the model. Otherwise the path does.
    pub(super) names_model: bool,
    /// The bytes between the model and the conversation.
    pub(super) opening: &'static [u8],
    /// True if the tools of the request are sent.
    pub(super) offers_tools: bool,
    /// The form of the member `tools`.
    pub(super) tools: ToolsMember,
    /// Raw tools that follow those of the request.
    pub(super) more_tools: Vec<Value>,
    /// Members that follow the tools.
    pub(super) members: Members,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            names_model: true,
            opening: b"",
            offers_tools: false,
            tools: ToolsMember::default(),
            more_tools: Vec::new(),
            members: Members::default(),
        }
    }
}

/// The bytes around the tools of the request.
pub(super) struct ToolsMember {
    /// The bytes before the first tool, with the name of the member.
    pub(super) open: &'static [u8],
    /// The bytes after the last tool.
    pub(super) close: Vec<u8>,
}

/// A list of tools.
impl Default for ToolsMember {
    fn default() -> Self {
        Self {
            open: br#","tools":["#,
            close: b"]".to_vec(),
        }
    }
}

/// Bytes that are inserted into the output for this request alone.
#[derive(Default)]
pub(super) struct InsertedBytes {
    /// Positions in the conversation, in ascending order, and the bytes to insert there.
    pub(super) text: Vec<(usize, &'static [u8])>,
    /// Bytes to insert at the end of the last tool of the request.
    pub(super) tool: Option<&'static [u8]>,
}

/// Writes the body.
pub(super) fn encode<F: Form>(
    request: &LlmRequest,
    form: F,
    mut frame: Frame,
    marks: impl FnOnce(&F::State) -> InsertedBytes,
) -> Result<Vec<u8>, LlmError> {
    let mut members = std::mem::take(&mut frame.members).0;
    overlay::apply(&mut members, &request.effective_overlay())?;
    let (written, _) = write_conversation(request, form)?;
    let marks = marks(written.transcript.state());

    let wire = written.transcript.wire();
    let mut out = Vec::with_capacity(wire.len() + written.tools.wire.len() + 1024);
    out.push(b'{');
    if frame.names_model {
        out.extend_from_slice(br#""model":"#);
        json::write(&mut out, &request.model.id);
    }
    out.extend_from_slice(frame.opening);
    let mut from = 0;
    for (at, mark) in marks.text {
        out.extend_from_slice(&wire[from..at]);
        out.extend_from_slice(mark);
        from = at;
    }
    out.extend_from_slice(&wire[from..]);
    let closing = request.closing.as_ref();
    out.extend_from_slice(&written.transcript.rest(closing)?);
    out.push(b']');
    if frame.offers_tools {
        write_tools(&written.tools.wire, marks.tool, &frame, &mut out);
    }
    for (key, value) in &members {
        out.push(b',');
        json::write(&mut out, key);
        out.push(b':');
        json::write(&mut out, value);
    }
    out.push(b'}');
    let bytes = written.bytes();
    request.prefix.store(written, bytes);
    Ok(out)
}

/// Writes the request and returns its cacheable prefix.
pub(super) fn prefix<F: Form>(
    request: &LlmRequest,
    form: F,
    former: Option<&Prefix>,
) -> Result<PrefixReport, LlmError> {
    let (mut written, replaced) = write_conversation(request, form)?;
    let end = written.transcript.end();
    let now = Pieces {
        text: written.transcript.wire(),
        end: &end,
    };
    let before = replaced.as_ref();
    let before = before.map(|(transcript, tally)| (tally, transcript.wire()));
    let (prefix, reused) = written.tally.report(now, former, before);
    let same_form = match &replaced {
        Some((transcript, _)) => Some(transcript.form() == written.transcript.form()),
        None => (former.is_some() && reused > 0).then_some(true),
    };
    let bytes = written.bytes();
    request.prefix.store(written, bytes);
    Ok(PrefixReport {
        prefix,
        reused,
        same_form,
    })
}

/// The output, and the former output that it replaces.
type Conversation<F> = (Written<F>, Option<(Transcript<F>, PrefixHasher)>);

/// Writes the new part of the conversation. If the conversation does not continue the former
/// output, writes all of it and returns the former output too.
fn write_conversation<F: Form>(request: &LlmRequest, form: F) -> Result<Conversation<F>, LlmError> {
    let before = request.prefix.take::<Written<F>>();
    let (known, tools) = match before {
        Some(Written {
            transcript,
            tally,
            tools,
        }) => (Some((transcript, tally)), Some(tools)),
        None => (None, None),
    };
    // The schema subset is part of the form, so tools are reusable exactly if the form of the
    // transcript is unchanged.
    let is_same_form = known
        .as_ref()
        .is_some_and(|(transcript, _)| *transcript.form() == form);
    let tools = tools
        .filter(|tools| is_same_form && Arc::ptr_eq(&tools.definitions, &request.tools))
        .unwrap_or_else(|| WrittenTools::new(&request.tools, &form));
    let goes_on = |transcript: &Transcript<F>| {
        transcript.is_prefix_of(&form, &request.system, &request.messages)
    };
    let (going_on, replaced) = match known {
        Some(known) if goes_on(&known.0) => (Some(known), None),
        other => (None, other),
    };
    let (mut transcript, tally) = going_on.unwrap_or_else(|| {
        let transcript = Transcript::new(form, &request.system);
        (transcript, PrefixHasher::default())
    });
    transcript.extend_to(&request.messages)?;
    let written = Written {
        transcript,
        tally,
        tools,
    };
    Ok((written, replaced))
}

impl<F: Form> Written<F> {
    /// Returns the approximate size in bytes. Excludes the tool definitions, which the Location owns.
    fn bytes(&self) -> usize {
        self.transcript.bytes() + self.tally.bytes() + self.tools.wire.capacity()
    }
}

impl WrittenTools {
    fn new<F: Form>(definitions: &Arc<[ToolDefinition]>, form: &F) -> Self {
        let mut wire = Vec::new();
        for (n, tool) in definitions.iter().enumerate() {
            if n > 0 {
                wire.push(b',');
            }
            json::write(&mut wire, &form.tool(tool));
        }
        Self {
            definitions: Arc::clone(definitions),
            wire,
        }
    }
}

/// Writes the member `tools`, unless there are no tools.
fn write_tools(wire: &[u8], mark: Option<&[u8]>, frame: &Frame, out: &mut Vec<u8>) {
    let more = &frame.more_tools;
    if wire.is_empty() && more.is_empty() {
        return;
    }
    out.extend_from_slice(frame.tools.open);
    match (wire.strip_suffix(b"}"), mark) {
        (Some(open), Some(mark)) => {
            out.extend_from_slice(open);
            out.extend_from_slice(mark);
            out.push(b'}');
        }
        _ => out.extend_from_slice(wire),
    }
    for (n, tool) in more.iter().enumerate() {
        if n > 0 || !wire.is_empty() {
            out.push(b',');
        }
        json::write(out, tool);
    }
    out.extend_from_slice(&frame.tools.close);
}

/// Members of a body. Absent values are omitted.
#[derive(Default)]
pub(super) struct Members(JsonMap);

impl Members {
    pub(super) fn add(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Adds a value if there is one.
    pub(super) fn add_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    /// Adds a number. Omits a value that JSON cannot express.
    pub(super) fn add_number(&mut self, key: &str, value: Option<f64>) {
        self.add_some(key, value.and_then(Number::from_f64).map(Value::Number));
    }

    /// Adds a member to a nested object. Creates the object if it is missing.
    pub(super) fn add_within(&mut self, object: &str, key: &str, value: impl Into<Value>) {
        let slot = self.0.entry(object).or_insert_with(|| Map::new().into());
        if let Value::Object(members) = slot {
            members.insert(key.to_owned(), value.into());
        }
    }
}

/// Returns an option unless it is absent or null.
pub(super) fn option<'a>(options: &'a JsonMap, name: &str) -> Option<&'a Value> {
    options.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use opencode_llm::canonical::model::{ProtocolId, ResolvedModel};
    use opencode_llm::canonical::request::{Message, Part};

    use super::*;
    use crate::openai_chat::Dialect;

    #[test]
    fn the_written_part_is_reused_for_the_next_request() {
        let model = ResolvedModel::new("p", "m", ProtocolId::OpenAiChat, "http://localhost/v1");
        let mut request = LlmRequest::new(Arc::new(model));
        request.messages = vec![Message::user([Part::text("hi")])].into();
        // The next request does not repeat the closing message.
        request.closing = Some(Message::assistant([Part::text("In short:")]));
        let dialect = Dialect::of(&request.model);
        encode(&request, dialect.clone(), Frame::default(), |_| {
            InsertedBytes::default()
        })
        .unwrap();
        let answer = Message::assistant([Part::text("Hi.")]);
        Arc::make_mut(&mut request.messages).push(answer);

        let written: Written<Dialect> = request.prefix.take().unwrap();
        assert!(
            written
                .transcript
                .is_prefix_of(&dialect, &[], &request.messages)
        );
        assert!(Arc::ptr_eq(&written.tools.definitions, &request.tools));
        // The check compares identity, not content, so an equal message counts as a different one.
        let lookalike = [Message::user([Part::text("hi")])];
        assert!(!written.transcript.is_prefix_of(&dialect, &[], &lookalike));
    }
}
