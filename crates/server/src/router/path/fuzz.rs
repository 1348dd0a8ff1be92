//! The properties of paths of requests, for the fuzzer.

use opencode_protocol::operation::Spec;
use opencode_protocol::operations::OPERATIONS;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Params, Template, parse_segments};

/// Returns the path of an operation that a request addresses, and its parameters, as the dispatch finds them.
pub(crate) fn find(path: &str) -> Option<(&'static str, Params)> {
    let segments = parse_segments(path)?;
    let read = |spec: &'static Spec| Some((spec.path, Template::new(spec.path).read(&segments)?));
    let found = OPERATIONS.iter().filter_map(read);
    found.min_by_key(|(_, params)| params.len())
}

/// Checks that a path and its encoded segments address the same operations.
pub(crate) fn check(input: &[u8]) {
    let path = String::from_utf8_lossy(input);
    let Some(segments) = parse_segments(&path) else {
        return;
    };
    let encoded = segments
        .iter()
        .map(|it| utf8_percent_encode(it, NON_ALPHANUMERIC));
    let plain: String = encoded.map(|it| format!("/{it}")).collect();
    assert_eq!(find(&path), find(&plain), "{path:?}");
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::replay::replay;

    #[test]
    fn kept_paths_keep_their_properties() {
        replay("routes", check);
    }
}
