//! The sources in citations.

use opencode_llm::canonical::cited_source::CitedSource;
use serde_json::Value;

/// Returns the source of a citation: a page of a web search, a result that a tool gave, or a document of the request.
pub(super) fn source(citation: &Value) -> Option<CitedSource> {
    let text = |name: &str| citation.get(name)?.as_str();
    let title = text("title");
    match text("type")? {
        "web_search_result_location" => Some(CitedSource::at(text("url")?, title)),
        "search_result_location" => Some(CitedSource::at(text("source")?, title)),
        "char_location" | "page_location" | "content_block_location" => {
            Some(CitedSource::Document {
                id: text("file_id").map(str::to_owned),
                title: text("document_title").map(str::to_owned),
                filename: None,
                media_type: None,
            })
        }
        _ => None,
    }
}
