//! The pages that an answer cites by their positions in a list, as servers of Perplexity and xAI report them.

use opencode_llm::canonical::cited_source::{CitedSource, MAX_SOURCES};
use opencode_llm::canonical::error::LlmError;
use serde_json::Value;
use serde_json::value::RawValue;

use super::chunk::Chunk;
use crate::framed::Sink;

/// The last lists, not parsed, because some servers repeat them in every chunk.
#[derive(Default)]
pub(super) struct CitedPages {
    addresses: String,
    titled: String,
}

impl CitedPages {
    /// Stores the lists of a chunk.
    pub(super) fn update(&mut self, chunk: &Chunk<'_>) {
        let replace = |stored: &mut String, list: Option<&RawValue>| {
            if let Some(list) = list {
                stored.clear();
                stored.push_str(list.get());
            }
        };
        replace(&mut self.addresses, chunk.citations);
        replace(&mut self.titled, chunk.search_results);
    }

    /// Reports the pages in their order, because the text refers to them by position: first those that the text
    /// cites, with their titles.
    pub(super) fn report(&self, sink: &mut Sink<'_>) -> Result<(), LlmError> {
        let titled: Vec<Value> = parse(&self.titled);
        let titled = titled.iter().filter_map(|page| {
            let url = page.get("url")?.as_str()?;
            Some((url, page.get("title").and_then(Value::as_str)))
        });
        let titled: Vec<(&str, Option<&str>)> = titled.collect();
        let addresses = parse(&self.addresses);
        for url in addresses.iter().filter_map(Value::as_str) {
            let title = titled.iter().find(|(known, _)| *known == url);
            sink.cite(Some(CitedSource::at(
                url,
                title.and_then(|(_, title)| *title),
            )))?;
        }
        for (url, title) in titled {
            sink.cite(Some(CitedSource::at(url, title)))?;
        }
        Ok(())
    }
}

/// Returns the first elements of a list. Other values have none.
fn parse(list: &str) -> Vec<Value> {
    let mut pages: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    pages.truncate(MAX_SOURCES);
    pages
}
