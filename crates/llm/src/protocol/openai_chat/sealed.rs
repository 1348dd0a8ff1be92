//! Reasoning that a server wants back in its own form, next to its text.

use serde_json::{Value, json};

use crate::canonical::event::ProviderMetadata;
use crate::canonical::model::CompatibleServer;
use crate::canonical::request::{JsonMap, ReasoningPart};
use crate::protocol::metadata::{member, within};

/// The member of a message with the blocks of OpenRouter.
pub(super) const DETAILS: &str = "reasoning_details";

/// The member of a message with the sealed reasoning of GitHub Copilot.
pub(super) const OPAQUE: &str = "reasoning_opaque";

/// Maximum size of the collected data in bytes. A server that sends more gets nothing back.
const MAX_BYTES: usize = 4 * 1024 * 1024;

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
            self.bytes += detail
                .values()
                .filter_map(Value::as_str)
                .map(str::len)
                .sum::<usize>();
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
            let blocks: Vec<Value> = blocks.cloned().collect();
            (!blocks.is_empty()).then(|| (DETAILS, json!(blocks)))
        }
        CompatibleServer::Copilot => Some((OPAQUE, found(OPAQUE).next_back()?.clone())),
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
    }
}
