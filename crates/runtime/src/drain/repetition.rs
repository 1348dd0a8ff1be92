//! Detects a model that repeats the same call. Such calls increase the cost and bring no progress.

use opencode_tools::CallKind;
use serde_json::Value;

/// Number of equal consecutive calls from which the user is asked.
const THRESHOLD: u32 = 3;

/// The latest equal calls of one activity.
#[derive(Default)]
pub(crate) struct Repetition {
    /// The latest call: its tool and its arguments.
    latest: Option<(String, Value)>,
    /// Number of equal calls in a row.
    count: u32,
}

impl Repetition {
    /// Counts a call. Returns whether it is a repetition, which the user must allow.
    pub(crate) fn count(&mut self, tool: &str, input: &Value) -> CallKind {
        let is_same = |(name, arguments): &(String, Value)| name == tool && arguments == input;
        if self.latest.as_ref().is_some_and(is_same) {
            self.count = self.count.saturating_add(1);
        } else {
            self.latest = Some((tool.to_owned(), input.clone()));
            self.count = 1;
        }
        match self.count >= THRESHOLD {
            true => CallKind::Repeated,
            false => CallKind::New,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_third_equal_call_in_a_row_and_all_that_follow_it_are_repetitions() {
        let mut repetition = Repetition::default();
        let calls = [
            ("a", json!({"x": 1, "y": 2})),
            ("a", json!({"y": 2, "x": 1})),
            ("b", json!({"x": 1, "y": 2})),
            ("a", json!({"x": 1, "y": 2})),
            ("a", json!({"x": 1, "y": 2})),
            ("a", json!({"x": 1, "y": 2})),
            ("a", json!({"x": 1, "y": 2})),
            ("a", json!({"x": 1})),
        ];
        let counted: Vec<_> = calls
            .iter()
            .map(|(tool, input)| repetition.count(tool, input))
            .collect();
        let expected = [false, false, false, false, false, true, true, false].map(|is_repeated| {
            match is_repeated {
                true => CallKind::Repeated,
                false => CallKind::New,
            }
        });
        assert_eq!(counted, expected);
    }
}
