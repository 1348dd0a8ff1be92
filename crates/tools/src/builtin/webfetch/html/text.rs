//! Extracts the visible text of a page, without any separators.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult,
    states::RawKind::{Rawtext, Rcdata, ScriptData},
};

use super::read;

/// Returns the text without surrounding white space, or `None` if it takes too long.
pub(super) fn extract(html: &str, limit: Duration) -> Option<String> {
    let visible = read(html, limit, VisibleText::default(), |_| false)?
        .text
        .into_inner();
    Some(visible.trim().to_owned())
}

#[derive(Default)]
struct VisibleText {
    text: RefCell<String>,
    /// Number of open elements around the current position that hide their content.
    hidden: Cell<usize>,
}

impl TokenSink for VisibleText {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => self.tag(&tag),
            Token::CharacterTokens(text) => {
                if self.hidden.get() == 0 {
                    self.text.borrow_mut().push_str(&text);
                }
                TokenSinkResult::Continue
            }
            _ => TokenSinkResult::Continue,
        }
    }
}

impl VisibleText {
    /// Updates the state for the text after a tag.
    fn tag(&self, tag: &Tag) -> TokenSinkResult<()> {
        let (name, opens) = (&*tag.name, tag.kind == TagKind::StartTag);
        if matches!(name, "script" | "style" | "noscript" | "iframe" | "object") {
            let hidden = self.hidden.get();
            self.hidden.set(if opens {
                hidden + 1
            } else {
                hidden.saturating_sub(1)
            });
        }
        match name {
            _ if !opens => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(ScriptData),
            "style" | "iframe" | "xmp" | "noembed" | "noframes" => {
                TokenSinkResult::RawData(Rawtext)
            }
            "title" | "textarea" => TokenSinkResult::RawData(Rcdata),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }
}
