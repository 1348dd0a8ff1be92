//! The sources that an answer cites.

use serde::{Deserialize, Serialize};

/// Maximum number of sources of an answer.
pub const MAX_SOURCES: usize = 256;

/// Namespace of the metadata of a text with the places that cite sources, in the form of the provider. It is for readers:
/// no request contains it.
pub const PLACES: &str = "places";

/// Maximum length of an address, in bytes. Browsers and servers refuse longer ones.
const MAX_URL_BYTES: usize = 8 << 10;

/// Maximum length of a title, a name or an identifier, in bytes.
const MAX_NAME_BYTES: usize = 1 << 10;

/// A page or a document that an answer cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum CitedSource {
    /// A page with an address.
    Url {
        /// Its address: `http` or `https`.
        url: String,
        /// Its title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A document without an address.
    Document {
        /// Its identifier at the provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Its title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The name of its file.
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<String>,
        /// Its media type.
        #[serde(skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

impl CitedSource {
    /// Creates the source with an address, or a document with the address as its identifier if programs
    /// must not open it.
    pub fn at(url: &str, title: Option<&str>) -> Self {
        let title = title.map(str::to_owned);
        match is_web_address(url) {
            true => Self::Url {
                url: url.to_owned(),
                title,
            },
            false => Self::Document {
                id: Some(url.to_owned()),
                title,
                filename: None,
                media_type: None,
            },
        }
    }

    /// Returns the source within its limits: names are cut. Returns `None` if nothing identifies it, or if its
    /// address is too long or is not one of the web, because programs show it as a link.
    pub fn bounded(self) -> Option<Self> {
        match self {
            Self::Url { url, title } => is_web_address(&url).then(|| Self::Url {
                url,
                title: title.and_then(cut),
            }),
            Self::Document {
                id,
                title,
                filename,
                media_type,
            } => {
                let [id, title, filename, media_type] =
                    [id, title, filename, media_type].map(|it| it.and_then(cut));
                let is_known = id.is_some() || title.is_some() || filename.is_some();
                is_known.then_some(Self::Document {
                    id,
                    title,
                    filename,
                    media_type,
                })
            }
        }
    }
}

/// True for an address with `http` or `https` that programs can show as a link. It has no spaces and no line breaks, so
/// it cannot be mistaken for a text.
#[must_use]
pub fn is_web_address(url: &str) -> bool {
    let is_refused = |c: char| c.is_whitespace() || c.is_control();
    if url.len() > MAX_URL_BYTES || url.contains(is_refused) {
        return false;
    }
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|it| it.eq_ignore_ascii_case("http") || it.eq_ignore_ascii_case("https"))
}

/// Returns a text within the limit of names, or `None` if it is empty.
fn cut(mut text: String) -> Option<String> {
    text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn bounded(source: Value) -> Value {
        let source: CitedSource = serde_json::from_value(source).unwrap();
        serde_json::to_value(source.bounded()).unwrap()
    }

    #[test]
    fn a_link_has_an_address_of_the_web() {
        let page = json!({"type": "url", "url": "HTTPS://a.test/b", "title": "B"});
        assert_eq!(bounded(page.clone()), page);
        for wrong in [
            "",
            "a.test",
            "javascript:alert(1)",
            "javascript://a.test/%0Aalert(1)",
            "file:///a",
            "https://a.test/\nHello",
            "https://a.test/ b",
            "//a.test",
        ] {
            let page = json!({"type": "url", "url": wrong});
            assert_eq!(bounded(page), Value::Null, "{wrong}");
        }
        let long = format!("https://a.test/{}", "b".repeat(MAX_URL_BYTES));
        assert_eq!(bounded(json!({"type": "url", "url": long})), Value::Null);
    }

    #[test]
    fn a_document_has_an_identifier_a_title_or_a_name() {
        let document =
            json!({"type": "document", "filename": "a.pdf", "mediaType": "application/pdf"});
        assert_eq!(bounded(document.clone()), document);
        assert_eq!(
            bounded(json!({"type": "document", "mediaType": "text/plain"})),
            Value::Null
        );
        assert_eq!(
            bounded(json!({"type": "document", "id": "", "title": ""})),
            Value::Null
        );
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let title = format!("a{}", "é".repeat(MAX_NAME_BYTES));
        let page = json!({"type": "url", "url": "http://a.test", "title": title});
        let cut = bounded(page)["title"].as_str().unwrap().to_owned();
        assert_eq!(cut, title[..MAX_NAME_BYTES - 1]);
    }

    #[test]
    fn an_address_outside_the_web_identifies_a_document() {
        let source = CitedSource::at("gs://bucket/a.pdf", Some("A"));
        let written = serde_json::to_value(source.bounded()).unwrap();
        assert_eq!(
            written,
            json!({"type": "document", "id": "gs://bucket/a.pdf", "title": "A"})
        );
    }
}
