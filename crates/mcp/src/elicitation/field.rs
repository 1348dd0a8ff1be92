//! One field of a form.

use opencode_schema::display::DisplayText;
use opencode_schema::question::{QuestionInfo, QuestionOption};
use serde_json::{Number, Value};
use url::Url;

use crate::limits::cut;

/// Maximum length of a name, a title or a label, in bytes.
const MAX_LABEL: usize = 256;

/// Maximum length of a description, in bytes.
const MAX_DESCRIPTION: usize = 1024;

/// Maximum number of values to choose from.
const MAX_CHOICES: usize = 100;

const YES: &str = "Yes";
const NO: &str = "No";

/// One field of a form.
pub(super) struct Field {
    pub(super) name: String,
    title: String,
    description: Option<String>,
    kind: Kind,
    /// The value without an answer.
    default: Option<Value>,
    is_required: bool,
}

enum Kind {
    Text {
        least: Option<u64>,
        most: Option<u64>,
        format: Option<String>,
    },
    Number {
        is_integer: bool,
        least: Option<f64>,
        most: Option<f64>,
    },
    Decision,
    One(Vec<Choice>),
    Many {
        choices: Vec<Choice>,
        least: Option<u64>,
        most: Option<u64>,
    },
}

struct Choice {
    value: String,
    label: String,
}

impl Field {
    /// Reads the schema of a field. `None` if it cannot be asked.
    pub(super) fn new(name: &str, schema: &Value, is_required: bool) -> Option<Self> {
        if name.len() > MAX_LABEL {
            return None;
        }
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let title = text("title").filter(|title| !title.trim().is_empty());
        let description = text("description").map(|it| cut(it.to_owned(), MAX_DESCRIPTION));
        Some(Self {
            name: name.to_owned(),
            title: cut(title.unwrap_or(name).to_owned(), MAX_LABEL),
            description,
            kind: kind(schema)?,
            default: schema.get("default").filter(|it| !it.is_null()).cloned(),
            is_required,
        })
    }

    pub(super) fn question(&self) -> QuestionInfo {
        let mut question = self.title.clone();
        if let Some(description) = &self.description {
            question.push_str(": ");
            question.push_str(description);
        }
        let hints = self.hints();
        if !hints.is_empty() {
            question.push_str(&format!(" ({})", hints.join(", ")));
        }
        let labels: Vec<&str> = match &self.kind {
            Kind::Text { .. } | Kind::Number { .. } => Vec::new(),
            Kind::Decision => vec![YES, NO],
            Kind::One(choices) | Kind::Many { choices, .. } => {
                choices.iter().map(|choice| choice.label.as_str()).collect()
            }
        };
        let options = labels.into_iter().map(|label| QuestionOption {
            label: label.to_owned(),
            description: String::new(),
        });
        QuestionInfo {
            question,
            header: cut(self.title.clone(), 30),
            options: options.collect(),
            multiple: matches!(self.kind, Kind::Many { .. }).then_some(true),
            custom: Some(matches!(self.kind, Kind::Text { .. } | Kind::Number { .. })),
        }
    }

    /// Returns notes for the user about accepted answers.
    fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        match &self.kind {
            Kind::Text { format, .. } => hints.extend(format.clone()),
            Kind::Number { is_integer, .. } => {
                hints.push(
                    if *is_integer {
                        "a whole number"
                    } else {
                        "a number"
                    }
                    .to_owned(),
                );
            }
            Kind::Decision | Kind::One(_) | Kind::Many { .. } => {}
        }
        if let Some(default) = &self.default {
            let shown = match default {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            hints.push(format!("default: {}", cut(shown, MAX_LABEL)));
        } else if !self.is_required {
            hints.push("optional".to_owned());
        }
        hints
    }

    /// Returns the value for an answer. `None` without an answer.
    ///
    /// # Errors
    ///
    /// Fails with a message for the user if the answer is not valid.
    pub(super) fn value(&self, answer: &[String]) -> Result<Option<Value>, String> {
        let given: Vec<&str> = answer.iter().map(|it| it.trim()).collect();
        let is_empty = given.iter().all(|it| it.is_empty());
        if is_empty {
            return match (&self.default, self.is_required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err(format!("{} needs an answer.", self.title)),
            };
        }
        let value = match (&self.kind, &given[..]) {
            (
                Kind::Many {
                    choices,
                    least,
                    most,
                },
                given,
            ) => many(choices, given)
                .filter(|chosen| is_within(chosen.len(), *least, *most))
                .map(Value::from),
            (Kind::One(choices), [label]) => chosen(choices, label).map(Value::from),
            (Kind::Decision, [label]) => decision(label).map(Value::from),
            (
                Kind::Number {
                    is_integer,
                    least,
                    most,
                },
                [text],
            ) => number(text, *is_integer, *least, *most).map(Value::Number),
            (
                Kind::Text {
                    least,
                    most,
                    format,
                },
                [_],
            ) => {
                // Spaces can belong to a text.
                let text = answer.first().map_or("", String::as_str);
                let fits = is_within(text.chars().count(), *least, *most)
                    && format
                        .as_deref()
                        .is_none_or(|format| has_format(text, format));
                fits.then(|| Value::from(text))
            }
            _ => None,
        };
        let value = value.ok_or_else(|| format!("The answer to {} is not valid.", self.title))?;
        Ok(Some(value))
    }
}

fn kind(schema: &Value) -> Option<Kind> {
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    match schema.get("type").and_then(Value::as_str)? {
        "string" if schema.get("enum").is_some() || schema.get("oneOf").is_some() => {
            Some(Kind::One(choices(schema)?))
        }
        "string" => Some(Kind::Text {
            least: count("minLength"),
            most: count("maxLength"),
            format: schema
                .get("format")
                .and_then(Value::as_str)
                .map(|format| cut(format.to_owned(), MAX_LABEL)),
        }),
        kind @ ("number" | "integer") => Some(Kind::Number {
            is_integer: kind == "integer",
            least: bound("minimum"),
            most: bound("maximum"),
        }),
        "boolean" => Some(Kind::Decision),
        "array" => Some(Kind::Many {
            choices: choices(schema.get("items")?)?,
            least: count("minItems"),
            most: count("maxItems"),
        }),
        _ => None,
    }
}

/// Reads the values to choose from. Each has its own label.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(values) = list("enum") {
        let names = list("enumNames").map_or(&[][..], Vec::as_slice);
        let values = values.iter().enumerate().map(|(index, value)| {
            let name = names.get(index).and_then(Value::as_str);
            Some((value.as_str()?, name))
        });
        return unique(values.collect::<Option<_>>()?);
    }
    let options = list("oneOf").or_else(|| list("anyOf"))?.iter();
    let options = options.map(|option| {
        let title = option.get("title").and_then(Value::as_str);
        Some((option.get("const")?.as_str()?, title))
    });
    unique(options.collect::<Option<_>>()?)
}

/// Gives each value a label of its own.
fn unique(pairs: Vec<(&str, Option<&str>)>) -> Option<Vec<Choice>> {
    if pairs.is_empty() || pairs.len() > MAX_CHOICES {
        return None;
    }
    let mut choices: Vec<Choice> = Vec::with_capacity(pairs.len());
    for (value, title) in pairs {
        if value.len() > MAX_LABEL || choices.iter().any(|other| other.value == value) {
            return None;
        }
        let title = title.filter(|title| !title.trim().is_empty());
        let label = cut(title.unwrap_or(value).to_owned(), MAX_LABEL);
        // The answer names the label as users read it.
        let mut label = DisplayText::line(label).into_string();
        if label.trim().is_empty() {
            label = Value::from(value).to_string();
        }
        if choices.iter().any(|other| other.label == label) {
            label = DisplayText::line(format!("{label} ({value})")).into_string();
        }
        choices.push(Choice {
            value: value.to_owned(),
            label,
        });
    }
    Some(choices)
}

fn chosen(choices: &[Choice], label: &str) -> Option<String> {
    let by_label = choices.iter().find(|choice| choice.label.trim() == label);
    let choice = by_label.or_else(|| choices.iter().find(|choice| choice.value == label));
    choice.map(|choice| choice.value.clone())
}

fn many(choices: &[Choice], labels: &[&str]) -> Option<Vec<String>> {
    let mut values = Vec::with_capacity(labels.len());
    for label in labels {
        let value = chosen(choices, label)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(values)
}

fn decision(label: &str) -> Option<bool> {
    match label.to_ascii_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

fn number(text: &str, is_integer: bool, least: Option<f64>, most: Option<f64>) -> Option<Number> {
    let number = match text.parse::<i64>() {
        Ok(integer) => Number::from(integer),
        Err(_) if is_integer => return None,
        Err(_) => Number::from_f64(text.parse().ok()?)?,
    };
    let value = number.as_f64()?;
    let fits = least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most);
    fits.then_some(number)
}

fn is_within(count: usize, least: Option<u64>, most: Option<u64>) -> bool {
    let count = count as u64;
    least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
}

/// True if the text has the format. Formats that are not known accept every text.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "uri" => Url::parse(text).is_ok(),
        "email" => text.split_once('@').is_some_and(|(user, domain)| {
            let is_part = |part: &str| !part.is_empty() && !part.contains([' ', '@']);
            is_part(user) && is_part(domain)
        }),
        "date" => is_date(text),
        "date-time" => text
            .split_once(['T', 't'])
            .is_some_and(|(date, time)| is_date(date) && is_time(time)),
        _ => true,
    }
}

fn is_date(text: &str) -> bool {
    has_shape(text, "0000-00-00")
}

/// True for a time with an offset, such as `10:00:00.5Z` or `10:00:00+02:00`.
fn is_time(text: &str) -> bool {
    let Some((time, rest)) = text.split_at_checked(8) else {
        return false;
    };
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let is_offset = matches!(offset, "Z" | "z")
        || offset
            .strip_prefix(['+', '-'])
            .is_some_and(|it| has_shape(it, "00:00"));
    has_shape(time, "00:00:00") && is_offset
}

/// True if the text has digits where the shape has zeros, and otherwise the characters of the shape.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text
            .bytes()
            .zip(shape.bytes())
            .all(|(given, wanted)| match wanted {
                b'0' => given.is_ascii_digit(),
                other => given == other,
            })
}
