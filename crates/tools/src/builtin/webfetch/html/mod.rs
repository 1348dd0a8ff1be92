//! Converts HTML to text for a model, within limits, because pages are not trusted.
//!
//! A page can nest a hundred thousand elements, or contain a few bytes that a parser must repeat a
//! thousand times. A page that costs more than ordinary pages is not converted. Its plain text is still
//! available, in time proportional to its length.

mod bounds;
mod markdown;
mod text;
mod tree;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use html5ever::{
    TokenizerResult,
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{TokenSink, Tokenizer, TokenizerOpts},
};

/// Time limit for parsing a page. Ordinary pages take milliseconds.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Number of bytes between two checks of the time. Every attribute of a tag is compared with all
/// attributes before it, so even this few bytes can take long.
const PIECE: usize = 2048;

/// Returns the page as Markdown, or as plain text if it is too deep or too large for that. Returns
/// `None` if plain text takes too long too.
pub(super) fn to_markdown(html: &str) -> Option<String> {
    to_markdown_within(html, TIMEOUT, TIMEOUT)
}

/// Returns the text of the page, or `None` if that takes too long.
pub(super) fn to_text(html: &str) -> Option<String> {
    text::extract(html, TIMEOUT)
}

fn to_markdown_within(html: &str, for_tree: Duration, for_text: Duration) -> Option<String> {
    let page = tree::parse(html, for_tree).filter(bounds::are_met);
    match page {
        Some(page) => Some(markdown::convert(&page)),
        None => text::extract(html, for_text),
    }
}

/// Feeds a page to a sink and returns the sink. Returns `None` if that takes too long or the sink
/// becomes full.
fn read<Sink: TokenSink>(
    html: &str,
    limit: Duration,
    sink: Sink,
    is_full: impl Fn(&Sink) -> bool,
) -> Option<Sink> {
    let begun = Instant::now();
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() {
        if begun.elapsed() > limit || is_full(&tokenizer.sink) {
            return None;
        }
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = more;
        input.push_back(StrTendril::from(piece));
        // The tokenizer stops after every script for callers that run scripts.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    }
    tokenizer.end();
    Some(tokenizer.sink).filter(|sink| !is_full(sink))
}
