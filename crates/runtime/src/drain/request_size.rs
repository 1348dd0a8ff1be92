//! The size of a request as the cause of a refusal, and the advice that a failure gives.

use opencode_llm::{ErrorKind, LlmError, LlmEvent};

use super::ends::Refusal;

/// Percentage of the window from which on the size of a request may be the cause of a refusal in unknown words.
const NEAR: u64 = 85;

/// Tokens of a history that may be too long for a model with an unknown window: the smallest default window of local
/// servers.
const LONG_HISTORY: u64 = 4_096;

const CURES: &str = "compact the session, revert it to an earlier message, choose a model with a larger window, or set limit.context of the model to its real window";

/// A refusal in unknown words by a model with an unknown window.
#[derive(Clone)]
pub(crate) struct UnknownRefusal {
    words: String,
    /// Estimated tokens of the request.
    tokens: u64,
}

/// The size of one request.
pub(super) struct RequestSize {
    /// Estimated tokens of the request.
    pub(super) tokens: u64,
    /// Estimated tokens of its history.
    pub(super) history: u64,
    /// The window of the model. 0 if it is unknown.
    pub(super) window: u64,
    /// The refusal of the turn before.
    pub(super) earlier: Option<UnknownRefusal>,
}

impl RequestSize {
    /// True if the request failed, or may have failed, because of its size.
    pub(super) fn explains(&self, error: &LlmError) -> bool {
        error.is_context_overflow()
            || (error.may_be_overflow() && self.is_suspect(&error.to_string()))
    }

    /// The same for a failure inside of a stream.
    pub(super) fn explains_event(&self, event: &LlmEvent) -> bool {
        let LlmEvent::ProviderError { message, .. } = event else {
            return false;
        };
        event.is_context_overflow() || (event.may_be_overflow() && self.is_suspect(message))
    }

    /// Returns the refusal to compare with that of the next turn.
    pub(super) fn unknown(&self, refusal: &Refusal) -> Option<UnknownRefusal> {
        match refusal {
            Refusal::Error(error) if error.may_be_overflow() => self.refused(&error.to_string()),
            Refusal::Event(event) if event.may_be_overflow() => match event {
                LlmEvent::ProviderError { message, .. } => self.refused(message),
                _ => None,
            },
            _ => None,
        }
    }

    /// The same for the text of a refusal.
    pub(super) fn refused(&self, text: &str) -> Option<UnknownRefusal> {
        let words = words_of(text);
        let before = self.earlier.as_ref().filter(|it| it.words == words);
        let tokens = before.map_or(0, |it| it.tokens).max(self.tokens);
        (self.window == 0).then_some(UnknownRefusal { words, tokens })
    }

    /// Returns how many of the newest tokens stay in full after a refusal: half of a history that is long and would stay
    /// as a whole, because the window is smaller than the configuration says.
    pub(super) fn kept_after_refusal(&self, keep: u64) -> u64 {
        match self.history {
            history if (LONG_HISTORY..=keep).contains(&history) => history / 2,
            _ => keep,
        }
    }

    /// Returns the sentence that says what a user can do about a failure. `may_be_overflow` is true for a refusal in
    /// unknown words.
    pub(super) fn advice(
        &self,
        kind: ErrorKind,
        may_be_overflow: bool,
        provider: &str,
    ) -> Option<String> {
        let tokens = self.tokens;
        let is_long = self.is_near_window() || (self.window == 0 && self.history >= LONG_HISTORY);
        match kind {
            ErrorKind::Quota => Some(format!(
                "The account at the provider {provider} has no credit, or its plan is used up: add credit, or choose another model"
            )),
            ErrorKind::ContextOverflow => Some(format!(
                "The request has about {tokens} tokens{}: {CURES}",
                self.of_window()
            )),
            _ if may_be_overflow && is_long => Some(format!(
                "If its size of about {tokens} tokens{} is the cause: {CURES}",
                self.of_window()
            )),
            _ => None,
        }
    }

    fn of_window(&self) -> String {
        match self.window {
            0 => String::new(),
            window => format!(" and the window of the model {window}"),
        }
    }

    fn is_near_window(&self) -> bool {
        self.window > 0 && self.tokens.saturating_mul(100) > self.window.saturating_mul(NEAR)
    }

    /// True if a refusal in unknown words may have the size as its cause: the request is near the window, or the window
    /// is unknown and the same refusal comes again for a request that is larger.
    fn is_suspect(&self, text: &str) -> bool {
        let again = self.earlier.as_ref().filter(|_| self.window == 0);
        self.is_near_window()
            || again.is_some_and(|it| self.tokens > it.tokens && it.words == words_of(text))
    }
}

/// Returns the words of a refusal without numbers and identifiers, which differ each time.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_long_history_stays_if_all_of_it_would() {
        for (history, keep, kept) in [
            (6_000, 8_000, 3_000),
            (8_000, 8_000, 4_000),
            (LONG_HISTORY, 8_000, LONG_HISTORY / 2),
            (LONG_HISTORY - 1, 8_000, 8_000),
            (9_000, 8_000, 8_000),
            (0, 0, 0),
        ] {
            let size = RequestSize {
                tokens: history,
                history,
                window: 0,
                earlier: None,
            };
            assert_eq!(size.kept_after_refusal(keep), kept, "{history} {keep}");
        }
    }
}
