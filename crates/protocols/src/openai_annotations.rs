//! Annotations of texts in the protocols of OpenAI: the places in a text that cite a source.

use opencode_llm::canonical::cited_source::{CitedSource, PLACES};
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::request::JsonMap;
use serde_json::Value;

use super::framed::Sink;
use super::metadata::within;

/// The member of a text that contains its annotations.
const ANNOTATIONS: &str = "annotations";

/// Maximum number of stored annotations of a text. The sources of further ones are still reported.
const MAX_STORED: usize = 1024;

/// The annotations of one text.
#[derive(Default)]
pub(super) struct Annotations(Vec<Value>);

impl Annotations {
    /// Adds annotations and reports their sources. Leaves out those that cite no source.
    pub(super) fn add(
        &mut self,
        annotations: impl IntoIterator<Item = Value>,
        sink: &mut Sink<'_>,
    ) -> Result<(), LlmError> {
        for annotation in annotations {
            let source = source(&annotation);
            if source.is_some() && self.0.len() < MAX_STORED {
                self.0.push(annotation);
            }
            sink.cite(source)?;
        }
        Ok(())
    }

    /// Takes the annotations as metadata of their text.
    pub(super) fn take(&mut self) -> Option<ProviderMetadata> {
        let annotations = std::mem::take(&mut self.0);
        let members =
            (!annotations.is_empty()).then(|| (ANNOTATIONS.to_owned(), annotations.into()));
        within(PLACES, JsonMap::from_iter(members))
    }
}

/// Takes the annotations of a part of a message.
pub(super) fn take_from(part: &mut Value) -> Vec<Value> {
    match part.get_mut(ANNOTATIONS).map(Value::take) {
        Some(Value::Array(annotations)) => annotations,
        _ => Vec::new(),
    }
}

/// Returns the source of an annotation. Chat Completions wraps the members in an object, Responses does not.
pub(super) fn source(annotation: &Value) -> Option<CitedSource> {
    let kind = annotation.get("type")?.as_str()?;
    let about = annotation.get(kind).unwrap_or(annotation);
    let text = |name: &str| about.get(name)?.as_str();
    match kind {
        "url_citation" => Some(CitedSource::at(text("url")?, text("title"))),
        "file_citation" | "container_file_citation" | "file_path" => Some(CitedSource::Document {
            id: text("file_id").map(str::to_owned),
            title: None,
            filename: text("filename").map(str::to_owned),
            media_type: None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_annotation_names_a_page_or_a_file() {
        let page = json!({"type": "url", "url": "https://a.test", "title": "A"});
        let file = json!({"type": "document", "id": "file_1", "filename": "a.md"});
        let about =
            json!({"url": "https://a.test", "title": "A", "start_index": 0, "end_index": 4});
        let mut flat = about.clone();
        flat["type"] = "url_citation".into();
        for (annotation, expected) in [
            (flat, page.clone()),
            (json!({"type": "url_citation", "url_citation": about}), page),
            (
                json!({"type": "file_citation", "file_id": "file_1", "filename": "a.md", "index": 3}),
                file.clone(),
            ),
            (
                json!({"type": "container_file_citation", "container_id": "c", "file_id": "file_1", "filename": "a.md"}),
                file,
            ),
            (
                json!({"type": "file_path", "file_id": "file_1", "index": 0}),
                json!({"type": "document", "id": "file_1"}),
            ),
            (json!({"type": "url_citation", "title": "A"}), Value::Null),
            (
                json!({"type": "file", "file": {"name": "a.pdf"}}),
                Value::Null,
            ),
            (json!("url_citation"), Value::Null),
        ] {
            assert_eq!(json!(source(&annotation)), expected, "{annotation}");
        }
    }
}
