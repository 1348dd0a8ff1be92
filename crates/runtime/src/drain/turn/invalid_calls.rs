//! Calls with a mistake of the model. Such a call is recorded and fails with the reason, which the model reads in the next
//! turn. It does not run, and nothing else of the answer changes.

use opencode_llm::{BlockId, CallProblem};
use opencode_schema::message::ProviderMetadata;
use opencode_tools::{CallKind, ToolCall, ToolFailure};
use serde_json::{Map, Value};

use super::Turn;

/// Maximum length in characters of the written arguments that the model reads again.
const MAX_SHOWN: usize = 1000;

impl Turn<'_> {
    /// Records a call that cannot run, with its failure. Its recorded input is an empty object, because every later
    /// request repeats it and providers accept only objects.
    pub(super) fn record_invalid_call(
        &mut self,
        id: &BlockId,
        name: &str,
        problem: CallProblem,
        metadata: Option<ProviderMetadata>,
    ) {
        self.end_input(id, name);
        let (made, message) = match problem {
            CallProblem::Name(reason) => {
                let message = format!("{reason}. {}", self.calls.available_tools());
                (reason, message)
            }
            CallProblem::Input { reason, written } => {
                let made = written.clone();
                let message = input_problem(&reason, &self.publisher.cleaned(written));
                (made, message)
            }
        };
        let kind = self.repetition.count(name, &Value::from(made));
        let call = ToolCall {
            id: id.to_string(),
            name: name.to_owned(),
            input: Value::Object(Map::new()),
            kind,
            problem: Some(message.clone()),
        };
        let called = self.calls.record(call, false, metadata);
        self.publisher.push(called);
        if self.takes_output(name) {
            self.hold_invalid_output(id, message);
            return;
        }
        if kind == CallKind::Repeated {
            // The call waits for the user like every repeated call, and then fails.
            if let Some(refused) = self.calls.refuse(id) {
                self.publisher.push(refused);
            }
            return;
        }
        // No hook and no rule sees the call.
        self.calls.hold(id);
        let failure = ToolFailure::new(message);
        if let Some(failed) = self.calls.settle(id, failure.into()) {
            self.publisher.push(failed);
        }
    }
}

/// Tells the model why its arguments are unusable.
fn input_problem(reason: &str, written: &str) -> String {
    let problem = format!(
        "Invalid tool input: the arguments are not one JSON object: {reason}. The tool did not run. Call it again with the whole corrected arguments."
    );
    match written.trim() {
        "" => problem,
        written => format!("{problem}\nThe arguments were:\n{}", shortened(written)),
    }
}

/// Returns the beginning and the end of a long text.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return text.to_owned();
    }
    let half = MAX_SHOWN / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}\n[{} characters left out]\n{tail}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_shown_by_their_ends() {
        let short = "ä".repeat(MAX_SHOWN);
        assert_eq!(shortened(&short), short);
        let long = format!("{}x{}", "ä".repeat(500), "b".repeat(500));
        let expected = format!(
            "{}\n[1 characters left out]\n{}",
            "ä".repeat(500),
            "b".repeat(500)
        );
        assert_eq!(shortened(&long), expected);
    }

    #[test]
    fn missing_arguments_are_not_shown() {
        assert!(input_problem("r", " \n").ends_with("corrected arguments."));
        assert!(input_problem("r", "{").ends_with("\nThe arguments were:\n{"));
    }
}
