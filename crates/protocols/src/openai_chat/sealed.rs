//! Reasoning that a server wants back in its own form, next to its text, and the signatures of calls.

use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::model::CompatibleServer;
use opencode_llm::canonical::request::{JsonMap, ReasoningPart, ToolCallPart};
use serde_json::{Value, json};

use crate::metadata::{member, within};
use crate::openai::NAMESPACE;

/// The member of a message with the blocks of OpenRouter.
pub(super) const DETAILS: &str = "reasoning_details";

/// The member of a message with the sealed reasoning of GitHub Copilot.
pub(super) const OPAQUE: &str = "reasoning_opaque";

/// Maximum size of the collected data in bytes. A server that sends more gets nothing back.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The metadata member with the signature of a call.
const SIGNATURE: &str = "thoughtSignature";

/// Maximum length of a signature in bytes.
const MAX_SIGNATURE: usize = 1024 * 1024;

/// Returns the signature of a call of Gemini, which its endpoint for this protocol wants back.
pub(super) fn signature(extra: &JsonMap) -> Option<String> {
    let signature = extra.get("google")?.get("thought_signature")?.as_str()?;
    let is_usable = (1..=MAX_SIGNATURE).contains(&signature.len());
    is_usable.then(|| signature.to_owned())
}

/// Returns the metadata of a call with a signature.
pub(super) fn signed(signature: String) -> Option<ProviderMetadata> {
    let members = JsonMap::from_iter([(SIGNATURE.to_owned(), signature.into())]);
    within(NAMESPACE, members)
}

/// Returns the member of a call with its signature.
pub(super) fn extra_content(call: &ToolCallPart) -> Option<Value> {
    let signature = member(call.provider_metadata.as_ref(), NAMESPACE, SIGNATURE)?.as_str()?;
    Some(json!({"google": {"thought_signature": signature}}))
}

/// The namespace of the metadata of a server.
pub(super) const fn namespace(server: CompatibleServer) -> &'static str {
    match server {
        CompatibleServer::OpenRouter => "openrouter",
        CompatibleServer::Copilot => "copilot",
    }
}

/// Collects the data of one block of reasoning.
pub(super) struct Collector {
    /// The server. Data of other servers are not collected.
    server: Option<CompatibleServer>,
    details: Vec<Value>,
    opaque: Option<String>,
    bytes: usize,
}

impl Collector {
    pub(super) const fn new(server: Option<CompatibleServer>) -> Self {
        Self {
            server,
            details: Vec::new(),
            opaque: None,
            bytes: 0,
        }
    }

    /// Adds blocks of OpenRouter. A block arrives in pieces with the same index.
    pub(super) fn add_details(&mut self, details: Vec<Value>) {
        if self.server != Some(CompatibleServer::OpenRouter) {
            return;
        }
        for detail in details {
            let Value::Object(detail) = detail else {
                continue;
            };
            let detail = Value::Object(detail);
            self.bytes += detail.to_string().len();
            let Value::Object(detail) = detail else {
                continue;
            };
            if self.bytes > MAX_BYTES {
                self.details.clear();
                return;
            }
            match self.details.last_mut() {
                Some(Value::Object(last)) if is_same_block(last, &detail) => extend(last, detail),
                _ => self.details.push(Value::Object(detail)),
            }
        }
    }

    /// Keeps the sealed reasoning of GitHub Copilot.
    pub(super) fn add_opaque(&mut self, opaque: Option<String>) {
        let opaque = opaque.filter(|it| it.len() <= MAX_BYTES);
        if self.server == Some(CompatibleServer::Copilot) && opaque.is_some() {
            self.opaque = opaque;
        }
    }

    /// True if there are data that no block has.
    pub(super) fn is_filled(&self) -> bool {
        !self.details.is_empty() || self.opaque.is_some()
    }

    /// Returns the metadata of a block with the data so far.
    pub(super) fn take(&mut self) -> Option<ProviderMetadata> {
        let mut members = JsonMap::new();
        if !self.details.is_empty() {
            members.insert(DETAILS.to_owned(), std::mem::take(&mut self.details).into());
        }
        if let Some(opaque) = self.opaque.take() {
            members.insert(OPAQUE.to_owned(), opaque.into());
        }
        within(namespace(self.server?), members)
    }
}

fn is_same_block(last: &JsonMap, next: &JsonMap) -> bool {
    let same = |name: &str| last.get(name) == next.get(name);
    last.contains_key("index") && same("index") && same("type")
}

/// Appends the texts of a piece. Its other members replace those of the block.
fn extend(block: &mut JsonMap, piece: JsonMap) {
    const TEXTS: [&str; 3] = ["text", "summary", "data"];
    for (name, value) in piece {
        match (block.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&name.as_str()) => {
                text.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => {
                block.insert(name, value);
            }
        }
    }
}

/// Returns the members of an assistant message with the data of its reasoning.
pub(super) fn replayed(
    server: CompatibleServer,
    parts: &[&ReasoningPart],
) -> Option<(&'static str, Value)> {
    let found = |name| {
        let metadata = parts.iter().map(|part| part.provider_metadata.as_ref());
        metadata.filter_map(move |it| member(it, namespace(server), name))
    };
    match server {
        CompatibleServer::OpenRouter => {
            let blocks = found(DETAILS).filter_map(Value::as_array).flatten();
            let blocks = blocks.filter(|block| is_repeatable(block));
            let blocks: Vec<Value> = blocks.cloned().collect();
            (!blocks.is_empty()).then(|| (DETAILS, json!(blocks)))
        }
        CompatibleServer::Copilot => Some((OPAQUE, found(OPAQUE).next_back()?.clone())),
    }
}

/// True for a block of a documented type with its content. The server refuses others.
fn is_repeatable(block: &Value) -> bool {
    let has_text = |name: &str| block[name].is_string();
    match block["type"].as_str() {
        Some("reasoning.text") => {
            has_text("text") || (block["text"].is_null() && has_text("signature"))
        }
        Some("reasoning.summary") => has_text("summary"),
        Some("reasoning.encrypted") => has_text("data"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_block_are_joined() {
        let mut collector = Collector::new(Some(CompatibleServer::OpenRouter));
        let pieces = json!([
            {"type": "reasoning.text", "index": 0, "text": "Th", "format": "anthropic"},
            {"type": "reasoning.text", "index": 0, "text": "ink", "signature": null},
            {"type": "reasoning.text", "index": 0, "signature": "S"},
            {"type": "reasoning.encrypted", "index": 1, "data": "x"},
            "wrong",
        ]);
        for piece in pieces.as_array().unwrap() {
            collector.add_details(vec![piece.clone()]);
        }
        let metadata = collector.take().unwrap();
        assert_eq!(
            metadata["openrouter"],
            json!({"reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "Think", "format": "anthropic", "signature": "S"},
                {"type": "reasoning.encrypted", "index": 1, "data": "x"},
            ]})
        );
        assert!(!collector.is_filled());
        assert_eq!(collector.take(), None);
    }

    #[test]
    fn only_blocks_of_documented_forms_go_back() {
        let known = json!([
            {"type": "reasoning.text", "text": "a", "signature": null},
            {"type": "reasoning.text", "signature": "S"},
            {"type": "reasoning.summary", "summary": "b"},
            {"type": "reasoning.encrypted", "data": "c", "id": "i"},
        ]);
        let odd = json!([
            {"type": "reasoning.text", "text": 1},
            {"type": "reasoning.summary"},
            {"type": "reasoning.encrypted", "data": {}},
            {"type": "reasoning.other", "text": "a"},
            {"text": "a"},
            "a",
        ]);
        let all = [
            known.as_array().unwrap().as_slice(),
            odd.as_array().unwrap(),
        ]
        .concat();
        let replayed_of = |details: Value| {
            let members = JsonMap::from_iter([(DETAILS.to_owned(), details)]);
            let part = ReasoningPart {
                text: String::new(),
                provider_metadata: within("openrouter", members),
            };
            replayed(CompatibleServer::OpenRouter, &[&part])
        };
        assert_eq!(replayed_of(all.into()), Some((DETAILS, known)));
        assert_eq!(replayed_of(odd), None);
    }

    #[test]
    fn data_of_other_servers_and_too_large_data_are_dropped() {
        let detail = |text: &str| vec![json!({"type": "reasoning.text", "index": 0, "text": text})];
        let mut other = Collector::new(None);
        other.add_details(detail("a"));
        other.add_opaque(Some("b".into()));
        assert_eq!(other.take(), None);
        let mut large = Collector::new(Some(CompatibleServer::OpenRouter));
        large.add_details(detail("a"));
        large.add_details(detail(&"b".repeat(MAX_BYTES)));
        large.add_details(detail("c"));
        assert_eq!(large.take(), None);
        let numbers = json!({"type": "reasoning.text", "index": 0, "other": vec![0; MAX_BYTES]});
        large.add_details(vec![numbers]);
        assert_eq!(large.take(), None);
        let mut nested = Collector::new(Some(CompatibleServer::OpenRouter));
        nested.add_details(vec![
            json!({"type": "reasoning.text", "other": [["x".repeat(MAX_BYTES)]]}),
        ]);
        assert_eq!(nested.take(), None);
    }
}
