//! Whether a model repeats itself: the same call again and again brings nothing but cost.

use serde_json::Value;

/// From how many equal calls in a row on somebody is asked.
const THRESHOLD: u32 = 3;

/// The calls of one activity, as far as they are the same.
#[derive(Default)]
pub(crate) struct Repetition {
    /// The latest call: its tool and its arguments.
    latest: Option<(String, Value)>,
    /// How many of them there were in a row.
    count: u32,
}

impl Repetition {
    /// Counts a call, and says whether somebody has to allow it.
    pub(crate) fn count(&mut self, tool: &str, input: &Value) -> bool {
        let is_same = |(name, arguments): &(String, Value)| name == tool && arguments == input;
        if self.latest.as_ref().is_some_and(is_same) {
            self.count = self.count.saturating_add(1);
        } else {
            self.latest = Some((tool.to_owned(), input.clone()));
            self.count = 1;
        }
        self.count >= THRESHOLD
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
        let expected = [false, false, false, false, false, true, true, false];
        assert_eq!(counted, expected);
    }
}
