//! Estimates of the size of a request, made without writing the request.

use opencode_llm::{Message, Part, ResolvedModel, SystemPart, ToolContent, ToolResultValue};
use opencode_location::config::Settings;

use crate::json::json_size;

/// UTF-16 units of JSON text that count as one token.
pub(crate) const UNITS_PER_TOKEN: u64 = 4;

/// Maximum units that an attached file counts for. Providers charge about 1,600 tokens for an image,
/// regardless of the size of its base64 text. Counted by that size, one screenshot would replace a whole
/// conversation. Only the name of a file is sent if the model cannot read the file.
const MAX_FILE_UNITS: u64 = 6_400;

/// Maximum number of tokens of a summary.
const MAX_SUMMARY: u64 = 4_096;

/// Returns the estimated tokens of a text of `units` UTF-16 units. All decisions about sizes use this
/// estimate.
pub(crate) const fn tokens(units: u64) -> u64 {
    (units + UNITS_PER_TOKEN / 2) / UNITS_PER_TOKEN
}

/// Returns the tokens of the JSON text `{system, messages, tools}` of a request. `messages` and `tools`
/// are the units of all elements, each including the comma after it.
pub(crate) fn request_tokens(system: &[SystemPart], messages: u64, tools: u64) -> u64 {
    const FRAME: u64 = r#"{"system":,"messages":,"tools":}"#.len() as u64;
    let array = |elements: u64| 2 + elements.saturating_sub(1);
    tokens(FRAME + json_size(system).units + array(messages) + array(tools))
}

/// Returns the UTF-16 units of a text.
pub(crate) fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Returns the UTF-16 units of a text inside JSON.
pub(crate) fn json_units(text: &str) -> u64 {
    text.chars().map(json_units_of).sum()
}

/// Returns the UTF-16 units of a character inside JSON.
pub(crate) const fn json_units_of(character: char) -> u64 {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..' ' => 6,
        _ => character.len_utf16() as u64,
    }
}

/// Returns the units that a file with this data counts for.
pub(crate) fn file_units(data: &str) -> u64 {
    data.len() as u64 - uncounted_units(data)
}

/// Returns the units that a message counts for if its JSON text has `units` UTF-16 units.
pub(crate) fn counted_units(message: &Message, units: u64) -> u64 {
    let files = message.content.iter().map(|part| match part {
        Part::Media(media) => uncounted_units(&media.data),
        Part::ToolResult(result) => match &result.result {
            ToolResultValue::Content(content) => content.iter().map(uncounted_units_of).sum(),
            _ => 0,
        },
        _ => 0,
    });
    units.saturating_sub(files.sum())
}

fn uncounted_units_of(content: &ToolContent) -> u64 {
    match content {
        ToolContent::Text { .. } => 0,
        ToolContent::File { uri, .. } => uncounted_units(uri),
    }
}

/// Returns the units of a file that do not count.
fn uncounted_units(data: &str) -> u64 {
    // Base64 is the same in JSON, and each of its bytes is one unit.
    (data.len() as u64).saturating_sub(MAX_FILE_UNITS)
}

/// The context window of a model and its reserved parts, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// The whole context window. 0 if it is unknown.
    pub(crate) window: u64,
    /// The part of the window that is reserved for the answer.
    pub(crate) reserve: u64,
    /// The maximum length of a summary.
    pub(crate) summary: u64,
}

impl Budget {
    /// Returns the budget of requests to a model that ask for answers of at most `max_tokens`.
    pub(crate) fn of(model: &ResolvedModel, max_tokens: Option<u64>, settings: &Settings) -> Self {
        let allowance = settings.answer_tokens(max_tokens, model.limits.output);
        let asked = Some(allowance).filter(|tokens| *tokens > 0);
        Self {
            window: model.limits.context,
            reserve: allowance.max(settings.compaction.buffer_tokens),
            summary: asked.unwrap_or(MAX_SUMMARY).min(MAX_SUMMARY),
        }
    }

    /// Returns the budget within a window that the provider named. That one may be much smaller than the configured
    /// reserve, so the reserve is at most a quarter of it.
    pub(crate) fn within(self, named: Option<u64>) -> Self {
        match named {
            Some(window) if self.window == 0 || window < self.window => Self {
                window,
                reserve: self.reserve.min(window / 4),
                ..self
            },
            _ => self,
        }
    }

    /// Returns the tokens that stay verbatim if `keep` tokens should. If the window has no room for them,
    /// the longest summary and an answer of the same length, the result is at most half of the window.
    /// Otherwise every later request would be refused.
    pub(crate) fn kept(&self, keep: u64) -> u64 {
        let beside = 2 * self.summary;
        if self.window > 0 && keep.saturating_add(beside) >= self.window {
            keep.min(self.window / 2)
        } else {
            keep
        }
    }

    /// True if a request of `tokens` tokens leaves less than the reserve free.
    pub(crate) const fn is_exceeded_by(&self, tokens: u64) -> bool {
        self.window > 0 && tokens.saturating_add(self.reserve) > self.window
    }

    /// True if a request for a summary fits in the window, or the window is unknown.
    pub(crate) const fn has_room_for_summary_of(&self, tokens: u64) -> bool {
        self.window == 0 || tokens.saturating_add(self.summary) <= self.window
    }
}

#[cfg(test)]
mod tests {
    use opencode_llm::{Media, ProtocolId, ToolResultPart};
    use opencode_location::config::Compaction;
    use serde_json::json;

    use super::*;

    #[test]
    fn four_units_count_as_one_token_and_halves_are_rounded_up() {
        let sizes = [0, 1, 2, 5, 6, 9, 10];
        assert_eq!(sizes.map(tokens), [0, 0, 1, 1, 2, 2, 3]);
        // A character outside the Basic Multilingual Plane counts as two units, as in JavaScript.
        assert_eq!(["", "ä", "😀"].map(units), [0, 1, 2]);
    }

    #[test]
    fn a_text_counts_with_its_size_in_json() {
        let characters = (0..0x300).filter_map(char::from_u32).chain(['漢', '😀']);
        for character in characters {
            let text = character.to_string();
            let written = json_size(&text).units - 2;
            assert_eq!(json_units(&text), written, "{character:?}");
        }
    }

    #[test]
    fn a_request_counts_with_the_size_of_its_text() {
        let system = [SystemPart::new("Be \"terse\" 😀.")];
        let message = |text: &str| Message::user([Part::text(text)]);
        for messages in [
            vec![],
            vec![message("a")],
            vec![message("ä\n"), message("b")],
        ] {
            let tools = vec![json!({"name": "t"}); messages.len()];
            let text = json!({"system": system, "messages": messages, "tools": tools}).to_string();
            let counted = |sizes: &mut dyn Iterator<Item = u64>| sizes.map(|it| it + 1).sum();
            let messages = counted(&mut messages.iter().map(|it| json_size(it).units));
            let tools = counted(&mut tools.iter().map(|it| json_size(it).units));
            let counted = request_tokens(&system, messages, tools);
            assert_eq!(counted, tokens(units(&text)), "{text}");
        }
    }

    #[test]
    fn files_count_by_their_tokens_and_not_by_their_bytes() {
        let media = |mime: &str, data: &str| {
            Message::user([
                Part::text("See:"),
                Part::Media(Media {
                    media_type: mime.to_owned(),
                    data: data.to_owned(),
                    filename: None,
                }),
            ])
        };
        let result = |mime: &str, data: &str| {
            let file = ToolContent::File {
                uri: data.to_owned(),
                mime: mime.to_owned(),
                name: None,
            };
            Message::tool([Part::ToolResult(ToolResultPart {
                id: "c".to_owned(),
                name: "read".to_owned(),
                result: ToolResultValue::Content(vec![file]),
                provider_executed: false,
                provider_metadata: None,
            })])
        };
        let (small, large) = ("A".repeat(6_400), "A".repeat(10_000));
        for message in [media, result] {
            for (mime, data, expected) in [
                ("image/png", &small, 20_000),
                ("image/png", &large, 16_400),
                ("application/pdf", &large, 16_400),
                // Only its name is sent.
                ("text/plain", &large, 16_400),
            ] {
                assert_eq!(
                    counted_units(&message(mime, data), 20_000),
                    expected,
                    "{mime}"
                );
            }
        }
        assert_eq!(
            counted_units(&Message::user([Part::text(large)]), 20_000),
            20_000
        );
    }

    #[test]
    fn the_larger_of_answer_and_buffer_stays_free() {
        let budget = |context, output, asked, most, buffer| {
            let mut model = ResolvedModel::new("p", "m", ProtocolId::OpenAiChat, "http://x");
            (model.limits.context, model.limits.output) = (context, output);
            let settings = Settings {
                output_token_max: most,
                compaction: Compaction {
                    buffer_tokens: buffer,
                    ..Compaction::default()
                },
                ..Settings::default()
            };
            let budget = Budget::of(&model, asked, &settings);
            (budget.reserve, budget.summary)
        };
        for (output, asked, most, buffer, expected) in [
            (0, None, None, 20_000, (20_000, 4_096)),
            (32_000, None, None, 20_000, (32_000, 4_096)),
            (64_000, None, None, 20_000, (32_000, 4_096)),
            (64_000, Some(50_000), None, 20_000, (50_000, 4_096)),
            (64_000, Some(50_000), Some(40_000), 20_000, (40_000, 4_096)),
            (64_000, None, Some(40_000), 20_000, (40_000, 4_096)),
            (32_000, Some(1_000), None, 500, (1_000, 1_000)),
            (32_000, None, Some(3_000), 500, (3_000, 3_000)),
            (0, None, Some(3_000), 500, (500, 4_096)),
            (2_000, None, Some(3_000), 500, (2_000, 2_000)),
        ] {
            assert_eq!(budget(100_000, output, asked, most, buffer), expected);
        }
    }

    #[test]
    fn a_named_window_counts_if_it_is_smaller() {
        for (window, named, expected) in [
            (0, None, (0, 20_000)),
            (0, Some(8_192), (8_192, 2_048)),
            (0, Some(200_000), (200_000, 20_000)),
            (100_000, Some(8_192), (8_192, 2_048)),
            (8_192, Some(100_000), (8_192, 20_000)),
        ] {
            let budget = Budget {
                window,
                reserve: 20_000,
                summary: 10,
            };
            let found = budget.within(named);
            assert_eq!(
                (found.window, found.reserve),
                expected,
                "{window} {named:?}"
            );
            assert_eq!(found.within(named), found);
        }
    }

    #[test]
    fn the_kept_part_fits_the_window() {
        for (window, summary, keep, expected) in [
            (0, 4_096, 8_000, 8_000),
            (8_001, 0, 8_000, 8_000),
            (8_000, 0, 8_000, 4_000),
            (1_000, 0, 8_000, 500),
            (16_192, 4_096, 8_000, 8_000),
            (15_000, 4_096, 8_000, 7_500),
            (8_192, 1_000, 8_000, 4_096),
            (1_200, 1_000, 100, 100),
        ] {
            let budget = Budget {
                window,
                reserve: 0,
                summary,
            };
            assert_eq!(budget.kept(keep), expected, "{window}");
        }
    }

    #[test]
    fn a_history_without_free_space_exceeds_a_known_window() {
        let budget = |window| Budget {
            window,
            reserve: 20,
            summary: 10,
        };
        for (window, tokens, is_exceeded, has_room) in [
            (0, u64::MAX, false, true),
            (100, 80, false, true),
            (100, 81, true, true),
            (100, 90, true, true),
            (100, 91, true, false),
            // The reserve is larger than the window.
            (15, 0, true, true),
            (15, 6, true, false),
        ] {
            let budget = budget(window);
            let found = (
                budget.is_exceeded_by(tokens),
                budget.has_room_for_summary_of(tokens),
            );
            assert_eq!(found, (is_exceeded, has_room), "{window} {tokens}");
        }
    }
}
