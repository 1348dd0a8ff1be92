//! HTML as what a model reads, within bounds: pages are made by strangers.
//!
//! A page can nest a hundred thousand elements, or say in a few bytes what a parser has to repeat a
//! thousand times. A page that costs more than those that people read is not converted; its text can
//! be had nevertheless, in time proportional to its length.

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

/// How long a page may be read. Those that people read take milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes between two looks at the clock. Every attribute of a tag is compared with all before it, so
/// these few can take long.
const PIECE: usize = 2048;

/// The page as Markdown, or as plain text if it is too deep or too large for that. Nothing, if even that
/// takes too long.
pub(super) fn to_markdown(html: &str) -> Option<String> {
    to_markdown_within(html, PATIENCE, PATIENCE)
}

/// The text of the page. Nothing, if that takes too long.
pub(super) fn to_text(html: &str) -> Option<String> {
    text::extract(html, PATIENCE)
}

fn to_markdown_within(html: &str, for_tree: Duration, for_text: Duration) -> Option<String> {
    let page = tree::parse(html, for_tree).filter(bounds::hold);
    match page {
        Some(page) => Some(markdown::convert(&page)),
        None => text::extract(html, for_text),
    }
}

/// Gives a page to a sink, which is returned. Nothing, if that takes too long or the sink becomes full.
fn read<Sink: TokenSink>(
    html: &str,
    patience: Duration,
    sink: Sink,
    is_full: impl Fn(&Sink) -> bool,
) -> Option<Sink> {
    let begun = Instant::now();
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() {
        if begun.elapsed() > patience || is_full(&tokenizer.sink) {
            return None;
        }
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = more;
        input.push_back(StrTendril::from(piece));
        // It stops behind every script, for those who run them.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    }
    tokenizer.end();
    Some(tokenizer.sink).filter(|sink| !is_full(sink))
}
