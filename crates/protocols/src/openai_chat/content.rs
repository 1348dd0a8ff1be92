//! The words of a message. Most servers send a text. Mistral documents a list of parts, which others send, too.

use serde_json::Value;

use crate::deviations::{note, type_of};
use crate::loose::{self, Member, listed, prose};

/// The words of a piece of a message.
#[derive(Default)]
pub(super) struct Content {
    text: String,
    reasoning: String,
}

impl Content {
    pub(super) fn take_text(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.text)).filter(|text| !text.is_empty())
    }

    pub(super) fn take_reasoning(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.reasoning)).filter(|text| !text.is_empty())
    }

    fn add(&mut self, part: &Value) {
        let kind = part.get("type").and_then(Value::as_str);
        match (part, kind) {
            (_, Some("thinking" | "reasoning" | "reasoning_text" | "summary_text")) => {
                self.reasoning.push_str(&prose(part));
            }
            (_, None | Some("text" | "output_text" | "refusal")) => {
                self.text.push_str(&prose(part));
            }
            (_, Some(_)) => note("a part with a text", "a part of another kind"),
        }
    }
}

impl Member for Content {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self {
            text,
            reasoning: String::new(),
        }
    }

    fn of_other(value: Value) -> Self {
        let mut content = Self::default();
        match &value {
            parts @ (Value::Array(_) | Value::Object(_)) => {
                listed(Some(parts))
                    .iter()
                    .for_each(|part| content.add(part));
            }
            other => {
                note(Self::TYPE, type_of(other));
                content.text = prose(other);
            }
        }
        content
    }
}

loose::members!(Content);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_read_from_every_form() {
        let thoughts = json!([{"type": "text", "text": "Hm."}]);
        let thought = json!({"type": "thinking", "thinking": thoughts, "closed": true});
        let reference = json!({"type": "reference", "reference_ids": [1]});
        let text = json!({"type": "text", "text": "A"});
        for (value, expected, reasoning) in [
            (json!("A"), "A", ""),
            (json!(null), "", ""),
            (json!([text, "B"]), "AB", ""),
            (text.clone(), "A", ""),
            (json!({"text": "A"}), "A", ""),
            (json!({"type": "text", "text": {"value": "A"}}), "A", ""),
            (json!([thought, text]), "A", "Hm."),
            (json!([{"type": "thinking", "thinking": "Hm."}]), "", "Hm."),
            (json!([reference, text]), "A", ""),
            (json!([{"type": "card", "text": "no"}, null, 7]), "7", ""),
            (json!(7), "7", ""),
            (json!(true), "", ""),
            (json!({}), "", ""),
            (json!([[]]), "", ""),
        ] {
            let shown = value.to_string();
            let mut content: Content = serde_json::from_value(value).unwrap();
            assert_eq!(content.take_text().unwrap_or_default(), expected, "{shown}");
            assert_eq!(
                content.take_reasoning().unwrap_or_default(),
                reasoning,
                "{shown}"
            );
        }
    }
}
