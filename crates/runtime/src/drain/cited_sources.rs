//! The sources that an answer cites, each once.

use opencode_llm::CitedSource;
use opencode_llm::cited_source::MAX_SOURCES;
use serde_json::{Value, json};

/// The sources of one answer, in the order in which it cites them. The first [`MAX_SOURCES`] stay.
#[derive(Default)]
pub(super) struct CitedSources(Vec<CitedSource>);

impl CitedSources {
    /// Adds a source that is not known yet. A known page may get its title.
    pub(super) fn add(&mut self, source: CitedSource) {
        let known = self.0.iter().position(|known| is_same(known, &source));
        match known {
            Some(at) => complete(&mut self.0[at], source),
            None if self.0.len() < MAX_SOURCES => self.0.push(source),
            None => {}
        }
    }

    /// Takes the sources as they are stored, or `None` without sources.
    pub(super) fn take(&mut self) -> Option<Value> {
        let sources = std::mem::take(&mut self.0);
        (!sources.is_empty()).then(|| json!(sources))
    }
}

/// Gives a page without a title that of the same page.
fn complete(known: &mut CitedSource, same: CitedSource) {
    if let (CitedSource::Url { title, .. }, CitedSource::Url { title: given, .. }) = (known, same)
        && title.is_none()
    {
        *title = given;
    }
}

/// True for the same page, whatever its title, and for equal documents.
fn is_same(one: &CitedSource, other: &CitedSource) -> bool {
    match (one, other) {
        (CitedSource::Url { url, .. }, CitedSource::Url { url: other, .. }) => url == other,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, title: Option<&str>) -> CitedSource {
        CitedSource::Url {
            url: url.to_owned(),
            title: title.map(str::to_owned),
        }
    }

    #[test]
    fn a_source_is_listed_once_with_its_first_title() {
        let mut sources = CitedSources::default();
        assert_eq!(sources.take(), None);
        for (url, title) in [
            ("a", None),
            ("b", Some("B")),
            ("a", Some("A")),
            ("b", Some("Other")),
            ("a", None),
        ] {
            sources.add(page(url, title));
        }
        let expected = json!([{"type": "url", "url": "a", "title": "A"}, {"type": "url", "url": "b", "title": "B"}]);
        assert_eq!(sources.take(), Some(expected));
        assert_eq!(sources.take(), None);
    }

    #[test]
    fn the_first_sources_stay_within_the_limit() {
        let mut sources = CitedSources::default();
        for number in 0..=MAX_SOURCES {
            sources.add(page(&number.to_string(), None));
        }
        let listed = sources.take().unwrap();
        assert_eq!(listed.as_array().unwrap().len(), MAX_SOURCES);
        assert_eq!(listed[0]["url"], "0");
    }
}
