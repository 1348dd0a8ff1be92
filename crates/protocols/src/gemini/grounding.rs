//! The sources of an answer: the results of the searches that ground it, and texts that it repeats.

use opencode_llm::canonical::cited_source::{CitedSource, PLACES};
use opencode_llm::canonical::event::ProviderMetadata;
use serde_json::Value;

use super::NAMESPACE;
use crate::metadata::{member, within};

/// Returns the sources in their order, because the supports of the grounding refer to them by position.
pub(super) fn sources(
    grounding: Option<&Value>,
    citations: Option<&Value>,
) -> impl Iterator<Item = CitedSource> {
    let chunks = list(grounding, "groundingChunks").filter_map(source_of_chunk);
    // The Gemini API and Vertex use different names.
    let repeated = ["citationSources", "citations"].map(|name| list(citations, name));
    let repeated = repeated.into_iter().flatten().filter_map(|citation| {
        let url = citation.get("uri")?.as_str()?;
        Some(CitedSource::at(url, title_of(citation)))
    });
    chunks.chain(repeated)
}

/// Returns the metadata of the text with the places that cite sources, from the metadata of the answer.
pub(super) fn places(about: Option<&ProviderMetadata>) -> Option<ProviderMetadata> {
    let names = ["groundingMetadata", "citationMetadata"];
    let found = names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), member(about, NAMESPACE, name)?.clone())));
    within(PLACES, found.collect())
}

/// Returns the source of a chunk: a page of the web, a place of the map, an image, or a document of a store.
fn source_of_chunk(chunk: &Value) -> Option<CitedSource> {
    let found = ["web", "maps", "image", "retrievedContext"];
    let found = found.iter().find_map(|kind| chunk.get(kind))?;
    let address = ["uri", "sourceUri"]
        .iter()
        .find_map(|name| found.get(name)?.as_str());
    let title = title_of(found);
    Some(match address {
        Some(address) => CitedSource::at(address, title),
        None => CitedSource::Document {
            id: None,
            title: title.map(str::to_owned),
            filename: None,
            media_type: None,
        },
    })
}

fn title_of(value: &Value) -> Option<&str> {
    value.get("title")?.as_str()
}

fn list<'a>(value: Option<&'a Value>, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let items = value.and_then(|value| value.get(name)?.as_array());
    items.into_iter().flatten()
}
