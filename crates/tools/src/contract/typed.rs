//! Tools that declare their input and receive it decoded.

use std::sync::Arc;

use futures::future::BoxFuture;
use opencode_schema::check::{Nulls, check, convert_meant, lower_to_maximum, normalise_integers};
use opencode_schema::message::ToolContent;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::input_schema::input_schema;
use crate::contract::tool::{Tool, ToolContext, ToolOutput};
use crate::failure::ToolFailure;
use crate::ports::turn::{Port, TurnPorts};

/// A tool whose input is a Rust type.
pub trait TypedTool: Send + Sync + 'static {
    /// The action of [`Tool::permission`] if it is not the registered name.
    const PERMISSION: Option<&'static str> = None;

    /// The value of [`Tool::lists_subagents`].
    const LISTS_SUBAGENTS: bool = false;

    /// The type of the arguments. Its schema is advertised, with `#[schemars(description)]` as texts for
    /// the model, and arguments are checked against it. Optional fields are `Option`. The type ignores
    /// other fields, because models invent fields.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// The part of the turn that the tool needs besides the context of the call; `()` if it needs nothing else.
    type Port: Port;

    /// Returns the text that tells the model when and how to use the tool.
    fn description(&self) -> String;

    /// Runs one call, as [`Tool::run`] does.
    fn run(
        &self,
        input: Self::Input,
        context: ToolContext,
        port: Self::Port,
    ) -> impl Future<Output = Result<ToolOutput, ToolFailure>> + Send;

    /// Returns the tool in the form for registration.
    fn into_tool(self) -> Arc<dyn Tool>
    where
        Self: Sized,
    {
        Arc::new(Checked {
            schema: input_schema::<Self::Input>(),
            tool: self,
        })
    }
}

/// Checks arguments against the advertised schema and decodes them.
struct Checked<T> {
    schema: Value,
    tool: T,
}

impl<T: TypedTool> Tool for Checked<T> {
    fn description(&self) -> String {
        self.tool.description()
    }

    fn input_schema(&self) -> Value {
        self.schema.clone()
    }

    fn permission(&self) -> Option<&str> {
        T::PERMISSION
    }

    fn lists_subagents(&self) -> bool {
        T::LISTS_SUBAGENTS
    }

    fn run(
        &self,
        input: Value,
        context: ToolContext,
        ports: &TurnPorts,
    ) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        let port = T::Port::of(ports);
        Box::pin(async move {
            let mut input = input;
            let lowered = lower_to_maximum(&self.schema, &mut input);
            let input = decode(&self.schema, input)?;
            let result = self.tool.run(input, context, port).await;
            if lowered.is_empty() {
                return result;
            }
            told(result, &lowered)
        })
    }
}

/// Adds to the text of a result which arguments were above their largest values. A result without a text for the model
/// tells itself where it was cut.
fn told(
    result: Result<ToolOutput, ToolFailure>,
    lowered: &[(String, Value)],
) -> Result<ToolOutput, ToolFailure> {
    let lowered = lowered.iter();
    let lowered =
        lowered.map(|(name, most)| format!("{name} is {most} at most, and that was used"));
    let note = format!("({}.)", lowered.collect::<Vec<_>>().join("; "));
    match result {
        Ok(mut output) if !output.content.is_empty() => {
            output.content.push(ToolContent::Text { text: note });
            Ok(output)
        }
        Err(ToolFailure::Failed { message, kind }) => Err(ToolFailure::Failed {
            message: format!("{message} {note}"),
            kind,
        }),
        other => other,
    }
}

/// Decodes the arguments. An error names the first problem.
fn decode<I: DeserializeOwned>(schema: &Value, mut input: Value) -> Result<I, ToolFailure> {
    check_input(schema, &mut input)?;
    serde_json::from_value(input).map_err(|error| invalid(&error))
}

/// Checks the arguments of a call against the schema of the tool. Converts whole numbers to integers, and arguments that
/// the schema refuses to what they [mean](convert_meant).
///
/// # Errors
///
/// The failure for the model, with the first problem.
pub fn check_input(schema: &Value, input: &mut Value) -> Result<(), ToolFailure> {
    normalise_integers(input);
    if check(schema, input, Nulls::Values).is_ok() {
        return Ok(());
    }
    convert_meant(schema, input);
    check(schema, input, Nulls::Values).map_err(|issue| invalid(&issue))
}

fn invalid(issue: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("Invalid tool input: {issue}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

    #[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
    struct Input {
        path: String,
        #[schemars(range(min = 1))]
        offset: Option<u64>,
        #[schemars(range(min = 1, max = 2000))]
        limit: Option<usize>,
        #[schemars(range(max = 120), extend("exclusiveMinimum" = 0))]
        timeout: Option<f64>,
        all: Option<bool>,
        format: Option<Format>,
        options: Option<Vec<Choice>>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[schemars(inline)]
    enum Format {
        Text,
        Html,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(rename = "Option")]
    struct Choice {
        label: String,
    }

    fn decoded(input: Value) -> Result<Input, ToolFailure> {
        decode(&input_schema::<Input>(), input)
    }

    /// Returns the message to the model about refused arguments.
    fn refusal_of(input: Value) -> String {
        match decoded(input).unwrap_err() {
            ToolFailure::Failed { message, .. } => message,
            other => panic!("arguments are refused, not {other:?}"),
        }
    }

    #[test]
    fn accepted_inputs_are_read_and_unknown_members_ignored() {
        let a = || Input {
            path: "a".into(),
            ..Input::default()
        };
        for (input, expected) in [
            (json!({"path": ""}), Input::default()),
            (
                json!({"path": "a", "offset": null, "limit": null, "options": null, "format": null}),
                a(),
            ),
            (
                json!({"path": "a", "offset": "2", "limit": "7", "timeout": "0.5", "all": "true"}),
                Input {
                    offset: Some(2),
                    limit: Some(7),
                    timeout: Some(0.5),
                    all: Some(true),
                    ..a()
                },
            ),
            (
                json!({"path": "a", "options": "[{\"label\":\"x\"}]"}),
                Input {
                    options: Some(vec![Choice { label: "x".into() }]),
                    ..a()
                },
            ),
            (json!({"path": "a", "more": [1]}), a()),
            (
                json!({"limit": 5.0, "offset": 1e3, "path": "a"}),
                Input {
                    offset: Some(1000),
                    limit: Some(5),
                    ..a()
                },
            ),
            (
                json!({"path": "a", "offset": MAX_SAFE_INTEGER, "timeout": 0.5, "all": false}),
                Input {
                    offset: Some(MAX_SAFE_INTEGER),
                    timeout: Some(0.5),
                    all: Some(false),
                    ..a()
                },
            ),
            (
                json!({"path": "a", "timeout": 120.0, "format": "html", "options": [{"label": "x", "y": 1}]}),
                Input {
                    timeout: Some(120.0),
                    format: Some(Format::Html),
                    options: Some(vec![Choice { label: "x".into() }]),
                    ..a()
                },
            ),
        ] {
            assert_eq!(decoded(input), Ok(expected));
        }
    }

    #[test]
    fn refused_inputs_name_the_first_problem_and_its_place() {
        for (input, expected) in [
            (json!([1]), "Expected object, got [1]"),
            (json!(null), "Expected object, got null"),
            (json!({}), "Missing key\n  at [\"path\"]"),
            (
                json!({"path": 5, "limit": 0}),
                "Expected string, got 5\n  at [\"path\"]",
            ),
            (
                json!({"path": null}),
                "Expected string, got null\n  at [\"path\"]",
            ),
            (
                json!({"path": "", "offset": 0}),
                "Expected a value greater than 0, got 0\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": -0.0}),
                "Expected a value greater than 0, got 0\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": 1.5}),
                "Expected an integer, got 1.5\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": u64::MAX}),
                "Expected an integer, got 18446744073709551615\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": i64::MIN}),
                "Expected an integer, got -9223372036854775808\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": 1e300}),
                "Expected an integer, got 1e+300\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "offset": "one"}),
                "Expected number | undefined, got \"one\"\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "limit": 2001}),
                "Expected a value less than or equal to 2000, got 2001\n  at [\"limit\"]",
            ),
            (
                json!({"path": "", "timeout": 0}),
                "Expected a value greater than 0, got 0\n  at [\"timeout\"]",
            ),
            (
                json!({"path": "", "timeout": 120.5}),
                "Expected a value less than or equal to 120, got 120.5\n  at [\"timeout\"]",
            ),
            (
                json!({"path": "", "all": "yes"}),
                "Expected boolean | undefined, got \"yes\"\n  at [\"all\"]",
            ),
            (
                json!({"path": "", "format": "pdf"}),
                "Expected \"text\" | \"html\" | undefined, got \"pdf\"\n  at [\"format\"]",
            ),
            (
                json!({"path": "", "format": 5}),
                "Expected \"text\" | \"html\" | undefined, got 5\n  at [\"format\"]",
            ),
            (
                json!({"path": "", "options": {}}),
                "Expected array | undefined, got {}\n  at [\"options\"]",
            ),
            (
                json!({"path": "", "options": [{"label": ""}, 7.0]}),
                "Expected Option, got 7\n  at [\"options\"][1]",
            ),
            (
                json!({"path": "", "options": [{"label": ""}, {}]}),
                "Missing key\n  at [\"options\"][1][\"label\"]",
            ),
        ] {
            assert_eq!(refusal_of(input), format!("Invalid tool input: {expected}"));
        }
    }

    #[test]
    fn a_long_wrong_value_is_cut() {
        let message = refusal_of(json!(["é".repeat(1_000_000)]));
        let start = "Invalid tool input: Expected object, got [\"éé";
        assert!(message.starts_with(start), "{message}");
        assert!(message.ends_with(" more chars)"), "{message}");
        assert!(message.chars().count() < 1100);
    }

    proptest! {
        #[test]
        fn integers_are_whole_and_safe(offset in prop_oneof![
            any::<f64>(),
            (-9e15..1e16).prop_map(f64::round),
        ]) {
            let limit = MAX_SAFE_INTEGER as f64;
            let fits = offset.fract() == 0.0 && offset > 0.0 && offset <= limit;
            let read = decoded(json!({"path": "", "offset": offset})).ok();
            let expected = fits.then(|| Input { offset: Some(offset as u64), ..Input::default() });
            prop_assert_eq!(read, expected);
        }
    }
}
