//! The properties of paths of requests, for the fuzzer.

use axum::Router;
use axum::http::{Method, Uri};

use super::Canonical;

thread_local! {
    static CANONICAL: Canonical = Canonical::new(Router::new());
}

/// The spelling that the routes know is a path, and the spelling of itself.
pub(crate) fn check(input: &[u8]) {
    let path = String::from_utf8_lossy(input);
    let methods = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
    ];
    CANONICAL.with(|paths| {
        for method in &methods {
            let Some(known) = paths.canonical(method, &path) else {
                continue;
            };
            assert!(known.starts_with('/') && !known.contains("//"), "{known:?}");
            assert!(known.parse::<Uri>().is_ok(), "{known:?}");
            assert_eq!(paths.canonical(method, &known).as_ref(), Some(&known));
        }
    });
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
