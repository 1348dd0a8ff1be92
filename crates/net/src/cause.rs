//! The reason of a failed exchange, without the address of the server.

/// Returns the innermost cause. The outer errors only repeat the address, which may contain a secret.
pub fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    match cause.downcast_ref::<reqwest::Error>() {
        // Only the outermost error contains the address.
        Some(outermost) if outermost.is_timeout() => "timed out".to_owned(),
        Some(outermost) if outermost.is_builder() => "the request could not be built".to_owned(),
        Some(_) => "the exchange broke".to_owned(),
        None => plain(&cause.to_string()),
    }
}

/// Returns a cause for use within a sentence, without the error number of the operating system.
fn plain(cause: &str) -> String {
    let text = cause
        .split_once(" (os error ")
        .map_or(cause, |(text, _)| text);
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
