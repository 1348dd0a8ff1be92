//! The shape of a stream chunk, tolerant of the variations of servers.
//!
//! Every member may be missing, null or of another type, and unknown members are skipped. Text of events is
//! deserialized directly into the string that the event owns. Rarely needed parts are kept as slices of the input.

use opencode_llm::canonical::cited_source::is_web_address;
use serde_json::Value;
use serde_json::value::RawValue;

use super::content::Content;
use crate::deviations::note;
use crate::generated_file;
use crate::loose::{self, Id, JsonText, Loose, Member, Members, Prose, Values, Whole};
use crate::loose_objects::{First, Many, One};

#[derive(serde::Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: First<Choice<'a>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// The outcome of the request, of MiniMax.
    #[serde(borrow, default)]
    pub(super) base_resp: Option<&'a RawValue>,
    /// The addresses that the answer cites by their positions, of Perplexity and xAI.
    #[serde(borrow, default)]
    pub(super) citations: Option<&'a RawValue>,
    /// The same sources with their titles, of Perplexity.
    #[serde(borrow, default)]
    pub(super) search_results: Option<&'a RawValue>,
    /// The token counts of Groq.
    #[serde(borrow, default)]
    x_groq: One<Extension<'a>>,
}

/// Members that a server adds in an object of its own.
#[derive(serde::Deserialize)]
struct Extension<'a> {
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct Choice<'a> {
    /// In a box, because the parser moves each object several times.
    #[serde(default)]
    pub(super) delta: One<Box<Delta>>,
    /// The whole message, from servers that do not stream, and from some in place of a delta.
    #[serde(default)]
    pub(super) message: One<Box<Delta>>,
    #[serde(default)]
    pub(super) finish_reason: Reason,
    /// The name of the same end by the provider behind a gateway.
    #[serde(default)]
    pub(super) native_finish_reason: Loose,
    /// The token counts of Moonshot.
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    /// The failure of this choice, of the provider behind OpenRouter.
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    content: Content,
    /// The model says in place of an answer that it refuses.
    #[serde(default)]
    refusal: Prose,
    #[serde(default)]
    reasoning_content: Prose,
    #[serde(default)]
    reasoning: Prose,
    #[serde(default)]
    reasoning_text: Prose,
    #[serde(default)]
    thinking: Prose,
    #[serde(default)]
    pub(super) reasoning_details: Values,
    #[serde(default)]
    pub(super) reasoning_opaque: Loose,
    #[serde(default)]
    pub(super) tool_calls: Many<ToolDelta>,
    /// A call in the form before tools. There is at most one.
    #[serde(default)]
    pub(super) function_call: One<FunctionDelta>,
    /// The places of the text that cite a source.
    #[serde(default)]
    pub(super) annotations: Values,
    /// Images of OpenRouter.
    #[serde(default)]
    images: Values,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct ToolDelta {
    #[serde(default)]
    pub(super) index: Whole,
    #[serde(default)]
    pub(super) id: Id,
    #[serde(default)]
    function: One<FunctionDelta>,
    /// The members of the function, from servers that leave its object out.
    #[serde(default)]
    name: Id,
    #[serde(default)]
    arguments: JsonText,
    /// The signature of Gemini, in members of its provider.
    #[serde(default)]
    pub(super) extra_content: Members,
}

#[derive(Default, serde::Deserialize)]
pub(super) struct FunctionDelta {
    #[serde(default)]
    pub(super) name: Id,
    #[serde(default)]
    pub(super) arguments: JsonText,
}

impl<'a> Chunk<'a> {
    /// Takes the choice that is the answer. No request asks for alternatives, but some servers write each call into
    /// a choice of its own. So the calls of the others count if the first one has none.
    pub(super) fn take_choice(&mut self) -> Option<Choice<'a>> {
        let mut answer = self.choices.first.take()?;
        if self.choices.others.is_empty() {
            return Some(answer);
        }
        note("one choice", "several choices");
        let others = std::mem::take(&mut self.choices.others);
        let is_without_calls = !answer.has_calls();
        for mut other in others {
            if is_without_calls {
                answer.add_calls(other.take_calls());
            }
            if matches!(answer.finish_reason, Reason::None) {
                answer.finish_reason = other.finish_reason;
                answer.native_finish_reason = other.native_finish_reason;
            }
        }
        Some(answer)
    }

    /// Returns the report of the token counts, wherever the server puts it.
    pub(super) fn usage(&self) -> Option<&'a RawValue> {
        let of_choice = self.choices.first.as_ref().and_then(|choice| choice.usage);
        let of_groq = self.x_groq.0.as_ref().and_then(|it| it.usage);
        self.usage.or(of_choice).or(of_groq)
    }
}

impl Choice<'_> {
    /// Returns the delta, or the message in its place.
    fn content(&mut self) -> &mut Option<Box<Delta>> {
        match self.delta.0.is_some() {
            true => &mut self.delta.0,
            false => &mut self.message.0,
        }
    }

    fn has_calls(&mut self) -> bool {
        let content = self.content().as_ref();
        content.is_some_and(|it| !it.tool_calls.0.is_empty() || it.function_call.0.is_some())
    }

    fn take_calls(&mut self) -> Vec<ToolDelta> {
        let Some(content) = self.content() else {
            return Vec::new();
        };
        let calls = std::mem::take(&mut content.tool_calls.0);
        match content.function_call.0.take() {
            Some(former) if calls.is_empty() => vec![ToolDelta::of_function(former)],
            _ => calls,
        }
    }

    fn add_calls(&mut self, calls: Vec<ToolDelta>) {
        if !calls.is_empty() {
            let content = self.content().get_or_insert_default();
            content.tool_calls.0.extend(calls);
        }
    }
}

impl Delta {
    /// Takes the text of the answer. A refusal is one too: otherwise the user would see an empty answer.
    pub(super) fn take_text(&mut self) -> Option<String> {
        let content = self.content.take_text();
        content.or_else(|| self.refusal.take())
    }

    /// Returns the images as their types and contents. The type of an image with an address is unknown.
    pub(super) fn images(&self) -> impl Iterator<Item = (&str, generated_file::Content<'_>)> {
        self.images.0.iter().filter_map(|image| {
            let url = image.pointer("/image_url/url")?.as_str()?;
            match url.strip_prefix("data:") {
                Some(data) => {
                    let (mime, base64) = data.split_once(";base64,")?;
                    Some((mime, generated_file::Content::Base64(base64)))
                }
                None => is_web_address(url)
                    .then_some(("image/*", generated_file::Content::Address(url))),
            }
        })
    }

    /// Returns the reasoning of this delta. Servers that send several members repeat the same text,
    /// so the first text found is complete.
    pub(super) fn take_reasoning(&mut self) -> Option<String> {
        let plain = [
            &mut self.reasoning_content,
            &mut self.reasoning,
            &mut self.reasoning_text,
            &mut self.thinking,
        ];
        if let Some(text) = plain.into_iter().find_map(Prose::take) {
            return Some(text);
        }
        if let Some(text) = self.content.take_reasoning() {
            return Some(text);
        }
        let details = self.reasoning_details.0.iter();
        let text: String = details.map(text_of_detail).collect();
        (!text.is_empty()).then_some(text)
    }
}

/// Returns the text of a block of reasoning. The data of a sealed block is no text.
fn text_of_detail(detail: &Value) -> String {
    let Value::Object(members) = detail else {
        return loose::prose(detail);
    };
    let texts = ["text", "summary"].iter();
    let texts = texts.filter_map(|name| members.get(*name).map(loose::prose));
    texts
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

impl ToolDelta {
    /// The piece of a call in the form before tools.
    pub(super) fn of_function(function: FunctionDelta) -> Self {
        Self {
            function: One(Some(function)),
            ..Self::default()
        }
    }

    /// Takes the members of the function.
    pub(super) fn take_function(&mut self) -> FunctionDelta {
        let flat = FunctionDelta {
            name: std::mem::take(&mut self.name),
            arguments: std::mem::take(&mut self.arguments),
        };
        self.function.0.take().unwrap_or(flat)
    }
}

/// Why the answer ends.
#[derive(Default)]
pub(super) enum Reason {
    /// The answer goes on.
    #[default]
    None,
    Named(String),
    /// A value that is no name.
    Odd,
}

impl Member for Reason {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        match text.is_empty() {
            true => Self::None,
            false => Self::Named(text),
        }
    }

    fn of_other(value: Value) -> Self {
        let is_given = value != false && value != 0;
        match Loose::of_other(value).take() {
            Some(name) => Self::Named(name),
            None if is_given => Self::Odd,
            None => Self::None,
        }
    }
}

loose::members!(Reason);
