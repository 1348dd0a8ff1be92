//! Arguments checked against parameters. The first problem is the one reported.

use std::fmt;

use serde_json::{Map, Number, Value};

use super::{Object, Schema};

/// The largest whole number JavaScript represents exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// How much of a wrong value is repeated to the model, in characters.
const SHOWN_CHARS: usize = 200;

/// What is wrong with an input, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputIssue {
    what: String,
    /// Innermost first: steps are added on the way out.
    path: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(&'static str),
    Index(usize),
}

impl fmt::Display for InputIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.path.is_empty() {
            f.write_str("\n  at ")?;
        }
        self.path.iter().rev().try_for_each(|step| match step {
            Step::Key(key) => write!(f, "[\"{key}\"]"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

impl InputIssue {
    fn new(what: String) -> Self {
        Self {
            what,
            path: Vec::new(),
        }
    }

    fn at(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }
}

impl Object {
    /// The input reduced to the declared fields, with every whole number as an integer.
    pub fn decode(&self, input: Value) -> Result<Value, InputIssue> {
        self.check(input, true)
    }

    fn check(&self, input: Value, required: bool) -> Result<Value, InputIssue> {
        let Value::Object(mut given) = input else {
            return Err(unexpected("object", required, &input));
        };
        let mut checked = Map::new();
        for field in self.fields {
            let step = Step::Key(field.name);
            match given.remove(field.name) {
                Some(value) => {
                    let value = field.schema.check(value, field.required);
                    checked.insert(
                        field.name.to_owned(),
                        value.map_err(|issue| issue.at(step))?,
                    );
                }
                None if field.required => {
                    return Err(InputIssue::new("Missing key".to_owned()).at(step));
                }
                None => {}
            }
        }
        Ok(checked.into())
    }
}

impl Schema {
    fn check(&self, value: Value, required: bool) -> Result<Value, InputIssue> {
        match (self, value) {
            (Self::String, value @ Value::String(_)) | (Self::Boolean, value @ Value::Bool(_)) => {
                Ok(value)
            }
            (Self::PositiveInteger { maximum }, Value::Number(number)) => {
                let Some(integer) = safe_integer(&number) else {
                    let text = format!("Expected an integer, got {}", number_text(&number));
                    return Err(InputIssue::new(text));
                };
                let number = Number::from(integer);
                within(&number, *maximum).map(|()| number.into())
            }
            (Self::PositiveNumber { maximum }, Value::Number(number)) => {
                within(&number, Some(*maximum)).map(|()| number.into())
            }
            (Self::OneOf(texts), Value::String(text)) if texts.contains(&text.as_str()) => {
                Ok(text.into())
            }
            (Self::Array(items), Value::Array(values)) => values
                .into_iter()
                .enumerate()
                .map(|(index, value)| {
                    let item = items.check(value, true);
                    item.map_err(|issue| issue.at(Step::Index(index)))
                })
                .collect(),
            (Self::Named(_, object), value) => object.check(value, required),
            (_, value) => Err(unexpected(&self.kind(), required, &value)),
        }
    }

    fn kind(&self) -> String {
        match self {
            Self::String => "string".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::PositiveInteger { .. } | Self::PositiveNumber { .. } => "number".to_owned(),
            Self::OneOf(texts) => {
                let quoted: Vec<_> = texts.iter().map(|text| format!("{text:?}")).collect();
                quoted.join(" | ")
            }
            Self::Array(_) => "array".to_owned(),
            Self::Named(..) => "object".to_owned(),
        }
    }
}

fn within(number: &Number, maximum: Option<u32>) -> Result<(), InputIssue> {
    let value = number.as_f64().unwrap_or(f64::NAN);
    let got = number_text(number);
    match maximum {
        _ if value <= 0.0 => Err(format!("Expected a value greater than 0, got {got}")),
        Some(maximum) if value > f64::from(maximum) => Err(format!(
            "Expected a value less than or equal to {maximum}, got {got}"
        )),
        _ => Ok(()),
    }
    .map_err(InputIssue::new)
}

/// JSON has one kind of number: `5.0` and `5e0` are as whole as `5`.
fn safe_integer(number: &Number) -> Option<i64> {
    let limit = MAX_SAFE_INTEGER as f64;
    let integer = number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= limit).then_some(float as i64)
    })?;
    (integer.unsigned_abs() <= MAX_SAFE_INTEGER).then_some(integer)
}

fn number_text(number: &Number) -> String {
    safe_integer(number).map_or_else(|| number.to_string(), |integer| integer.to_string())
}

fn unexpected(kind: &str, required: bool, value: &Value) -> InputIssue {
    let or_absent = if required { "" } else { " | undefined" };
    let got = match value {
        Value::Number(number) => number_text(number),
        value => value.to_string(),
    };
    let got = match got.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &got[..end]),
        None => got,
    };
    InputIssue::new(format!("Expected {kind}{or_absent}, got {got}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{super::Field, *};

    const OPTION: Object = Object {
        fields: &[Field::required("label", Schema::String)],
    };
    const INPUT: Object = Object {
        fields: &[
            Field::required("path", Schema::String),
            Field::optional("offset", Schema::PositiveInteger { maximum: None }),
            Field::optional(
                "limit",
                Schema::PositiveInteger {
                    maximum: Some(2000),
                },
            ),
            Field::optional("timeout", Schema::PositiveNumber { maximum: 120 }),
            Field::optional("all", Schema::Boolean),
            Field::optional("format", Schema::OneOf(&["text", "html"])),
            Field::optional("options", Schema::Array(&Schema::Named("Option", &OPTION))),
        ],
    };

    #[test]
    fn accepted_inputs_keep_declared_fields_only() {
        for (input, expected) in [
            (json!({"path": ""}), json!({"path": ""})),
            (json!({"path": "a", "more": [1]}), json!({"path": "a"})),
            (
                json!({"limit": 5.0, "offset": 1e3, "path": "a"}),
                json!({"path": "a", "offset": 1000, "limit": 5}),
            ),
            (
                json!({"path": "a", "offset": MAX_SAFE_INTEGER, "timeout": 0.5, "all": false}),
                json!({"path": "a", "offset": MAX_SAFE_INTEGER, "timeout": 0.5, "all": false}),
            ),
            (
                json!({"path": "a", "format": "html", "options": [{"label": "x", "y": 1}]}),
                json!({"path": "a", "format": "html", "options": [{"label": "x"}]}),
            ),
        ] {
            assert_eq!(INPUT.decode(input), Ok(expected));
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
                json!({"path": "", "offset": "1"}),
                "Expected number | undefined, got \"1\"\n  at [\"offset\"]",
            ),
            (
                json!({"path": "", "limit": 2001}),
                "Expected a value less than or equal to 2000, got 2001\n  at [\"limit\"]",
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
                json!({"path": "", "options": {}}),
                "Expected array | undefined, got {}\n  at [\"options\"]",
            ),
            (
                json!({"path": "", "options": [{"label": ""}, 7.0]}),
                "Expected object, got 7\n  at [\"options\"][1]",
            ),
            (
                json!({"path": "", "options": [{"label": ""}, {}]}),
                "Missing key\n  at [\"options\"][1][\"label\"]",
            ),
        ] {
            let issue = INPUT.decode(input).unwrap_err();
            assert_eq!(issue.to_string(), expected);
        }
    }

    #[test]
    fn a_long_wrong_value_is_cut() {
        let issue = INPUT.decode(json!(["é".repeat(1_000_000)])).unwrap_err();
        let expected = format!("Expected object, got [\"{}...", "é".repeat(198));
        assert_eq!(issue.to_string(), expected);
    }

    proptest! {
        #[test]
        fn decoding_twice_changes_nothing(
            path in ".{0,8}",
            offset in proptest::option::of(any::<f64>()),
            extra in any::<i64>(),
        ) {
            let input = json!({"path": path, "offset": offset.unwrap_or(1.0), "extra": extra});
            if let Ok(once) = INPUT.decode(input) {
                prop_assert_eq!(INPUT.decode(once.clone()), Ok(once));
            }
        }
    }
}
