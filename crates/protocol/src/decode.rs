//! Decodes the text of a request into the input of an operation.
//!
//! Every part of a request is first checked against its schema, so that the first problem is reported with its path.
//! Then it is decoded. Undeclared members are ignored, and `null` in an optional field means that it is absent, unless
//! the field is a bound or a rule, whose loss would permit more.

use std::marker::PhantomData;

use opencode_schema::check::{Issue, Nulls, check, normalise_integers};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::number;
use crate::operation::Channel;
use crate::shape::with_right_shape;

/// Maximum number of values in a body, nested or in lists. A decoded value needs up to forty times the memory of its
/// text, so a body of many small values would need gigabytes.
const MAX_VALUES: usize = 1 << 18;

/// Reads a part of requests. Its construction compiles the schema, so each is built once.
#[derive(Debug)]
pub struct Decoder<T> {
    channel: Channel,
    schema: Value,
    fields: Vec<(String, Form)>,
    input: PhantomData<fn() -> T>,
}

/// The encoding of a field of a path or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Unchanged.
    Text,
    /// As the decimal text of a number.
    Integer,
    /// As `true` or `false`.
    Boolean,
    /// Member by member, as `field[member]`.
    Members(Vec<String>),
    /// As several fields of this name, one for each item.
    List,
}

impl<T: DeserializeOwned + JsonSchema> Decoder<T> {
    /// Returns a decoder for this part of requests.
    pub fn new(channel: Channel) -> Self {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<T>().to_value();
        let fields = properties(&schema)
            .map(|(name, field)| (name.clone(), form(&schema, field)))
            .collect();
        Self {
            channel,
            schema,
            fields,
            input: PhantomData,
        }
    }

    /// Reads a body. Bytes that are not UTF-8 are read as the replacement character.
    pub fn body(&self, bytes: &[u8]) -> Result<T, Failure> {
        if bytes.is_empty() {
            return Err(self.refuse(&Issue::new("Expected object, got undefined")));
        }
        let text = String::from_utf8_lossy(bytes);
        if has_too_many_values(&text) {
            let message = format!("Expected at most {MAX_VALUES} values, got more");
            return Err(self.refuse(&Issue::new(message)));
        }
        let value = serde_json::from_str(&text)
            .map_err(|error| self.refuse(&Issue::new(format!("Malformed JSON: {error}"))))?;
        self.value(value)
    }

    /// Reads the decoded names and values of a path or a query.
    pub fn pairs<N: AsRef<str>, V: AsRef<str>>(&self, pairs: &[(N, V)]) -> Result<T, Failure> {
        let mut members = Map::new();
        for (name, form) in &self.fields {
            let value = field(form, name, pairs);
            let value = value.map_err(|issue| self.refuse(&issue.at_key(name)))?;
            members.extend(value.map(|value| (name.clone(), value)));
        }
        self.value(Value::Object(members))
    }

    fn value(&self, mut value: Value) -> Result<T, Failure> {
        check(&self.schema, &value, Nulls::Absent)
            .map_err(|issue| self.refuse(&with_right_shape(issue, &value)))?;
        normalise_integers(&mut value);
        if let Value::Object(members) = &mut value {
            members.retain(|_, member| !member.is_null());
        }
        // Problems that a schema cannot express, such as the maximum length of an id, are found here.
        serde_json::from_value(value).map_err(|error| self.refuse(&Issue::new(error.to_string())))
    }

    fn refuse(&self, issue: &Issue) -> Failure {
        Failure::invalid(self.channel, issue)
    }
}

/// True if a body has more values than allowed. A comma or an opening bracket precedes every value but the first.
fn has_too_many_values(text: &str) -> bool {
    let (mut values, mut in_text, mut is_escaped) = (1, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MAX_VALUES
}

/// Returns the value of a field, if the request has it.
fn field<N: AsRef<str>, V: AsRef<str>>(
    form: &Form,
    name: &str,
    pairs: &[(N, V)],
) -> Result<Option<Value>, Issue> {
    let given: Vec<&str> = named(pairs, name).collect();
    if *form == Form::List {
        return Ok((!given.is_empty()).then(|| given.into()));
    }
    let text = match given[..] {
        [] => match form {
            Form::Members(members) => return Ok(collect(name, members, pairs)),
            Form::Text | Form::Integer | Form::Boolean | Form::List => return Ok(None),
        },
        [text] => text,
        _ => return Err(Issue::expected("string | undefined", &given.into())),
    };
    match form {
        Form::Text | Form::Members(_) | Form::List => Ok(Some(text.into())),
        Form::Integer => integer(text).map(Some),
        Form::Boolean => boolean(text).map(Some),
    }
}

fn integer(text: &str) -> Result<Value, Issue> {
    let number = number::parse(text);
    let Some(integer) = number::integer(number) else {
        let shown = number::format_number(number);
        return Err(Issue::new(format!("Expected an integer, got {shown}")));
    };
    Ok(integer.into())
}

fn boolean(text: &str) -> Result<Value, Issue> {
    match text {
        "true" => Ok(true.into()),
        "false" => Ok(false.into()),
        _ => Err(Issue::expected(r#""true" | "false""#, &text.into())),
    }
}

/// Returns the members given as `name[member]`. Of a repeated member, the first applies.
fn collect<N: AsRef<str>, V: AsRef<str>>(
    name: &str,
    members: &[String],
    pairs: &[(N, V)],
) -> Option<Value> {
    let members: Map<String, Value> = members
        .iter()
        .filter_map(|member| {
            let text = named(pairs, &format!("{name}[{member}]")).next()?;
            Some((member.clone(), text.into()))
        })
        .collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

fn named<'a, N: AsRef<str>, V: AsRef<str>>(
    pairs: &'a [(N, V)],
    name: &str,
) -> impl Iterator<Item = &'a str> {
    pairs
        .iter()
        .filter(move |(other, _)| other.as_ref() == name)
        .map(|(_, value)| value.as_ref())
}

fn form(root: &Value, field: &Value) -> Form {
    let schema = present(root, field);
    let is = |name: &str| match &schema["type"] {
        Value::Array(names) => names.iter().any(|other| other == name),
        other => other == name,
    };
    if is("integer") {
        Form::Integer
    } else if is("boolean") {
        Form::Boolean
    } else if is("array") {
        Form::List
    } else if is("object") {
        Form::Members(properties(schema).map(|(name, _)| name.clone()).collect())
    } else {
        Form::Text
    }
}

/// Returns the schema of a present field: without the `null` of an optional field, and with its reference resolved.
fn present<'a>(root: &'a Value, field: &'a Value) -> &'a Value {
    let alternatives = field.get("anyOf").and_then(Value::as_array);
    let schema = alternatives
        .and_then(|all| all.iter().find(|one| one["type"] != "null"))
        .unwrap_or(field);
    let target = schema.get("$ref").and_then(Value::as_str);
    target
        .and_then(|target| root.pointer(target.strip_prefix('#')?))
        .unwrap_or(schema)
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use opencode_schema::id::SessionID;
    use opencode_schema::prompt::{Delivery, PromptInput};

    use super::*;
    use crate::input::{
        EventsQuery, HistoryQuery, LocationQuery, LocationSelection, MessageParams, MessagesQuery,
        Nothing, Order, PromptPayload, SessionCreatePayload, SessionPrunePayload,
        SessionUpdatePayload, SessionsQuery,
    };

    fn query<T: DeserializeOwned + JsonSchema>(pairs: &[(&str, &str)]) -> Result<T, String> {
        let decoded = Decoder::<T>::new(Channel::Query).pairs(pairs);
        decoded.map_err(|failure| failure.message().to_owned())
    }

    fn body<T: DeserializeOwned + JsonSchema>(text: &str) -> Result<T, String> {
        let decoded = Decoder::<T>::new(Channel::Payload).body(text.as_bytes());
        decoded.map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn numbers_in_queries_are_decimal() {
        for (text, after) in [("", 0), ("1", 1), ("1e1", 10)] {
            assert_eq!(
                query(&[("after", text)]),
                Ok(EventsQuery { after: Some(after) })
            );
        }
        for (name, text, message) in [
            ("limit", "abc", "Expected an integer, got NaN"),
            ("limit", "0x10", "Expected an integer, got NaN"),
            ("limit", " 1", "Expected an integer, got NaN"),
            ("limit", "1.5", "Expected an integer, got 1.5"),
            ("limit", "0", "Expected a value greater than 0, got 0"),
            (
                "limit",
                "101",
                "Expected a value less than or equal to 100, got 101",
            ),
            (
                "after",
                "-1",
                "Expected a value greater than or equal to 0, got -1",
            ),
            ("after", "1e300", "Expected an integer, got 1e+300"),
        ] {
            assert_eq!(
                query::<HistoryQuery>(&[(name, text)]),
                Err(format!("{message}\n  at [\"{name}\"]"))
            );
        }
        assert_eq!(
            query::<MessagesQuery>(&[("limit", "0")]),
            Err("Expected a value greater than or equal to 1, got 0\n  at [\"limit\"]".into())
        );
        assert_eq!(
            query::<SessionsQuery>(&[("limit", "-1")]),
            Err("Expected a value greater than 0, got -1\n  at [\"limit\"]".into())
        );
    }

    #[test]
    fn fields_of_queries_are_given_once_and_others_ignored() {
        assert_eq!(
            query::<MessagesQuery>(&[("limit", "1"), ("limit", "2")]),
            Err("Expected string | undefined, got [\"1\",\"2\"]\n  at [\"limit\"]".into())
        );
        assert_eq!(
            query(&[("limit[]", "x"), ("directory", "/w"), ("order", "asc")]),
            Ok(MessagesQuery {
                order: Some(Order::Asc),
                ..MessagesQuery::default()
            })
        );
        assert_eq!(
            query::<MessagesQuery>(&[("order", "up")]),
            Err("Expected \"asc\" | \"desc\", got \"up\"\n  at [\"order\"]".into())
        );
        assert_eq!(query(&[("a", "b")]), Ok(Nothing {}));
    }

    #[test]
    fn a_location_is_given_member_by_member() {
        let location = |directory: &str| {
            Ok(LocationSelection {
                location: Some(LocationQuery {
                    directory: Some(directory.into()),
                    workspace: None,
                }),
            })
        };
        for (pairs, expected) in [
            (&[("location[directory]", "/w")][..], location("/w")),
            (
                &[("location[directory]", "/a"), ("location[directory]", "/b")],
                location("/a"),
            ),
            (
                &[("location[more]", "x"), ("location[directory]", "/w")],
                location("/w"),
            ),
            (
                &[("directory", "/w"), ("location.directory", "/w")],
                Ok(LocationSelection::default()),
            ),
            (
                &[("location", "{}")],
                Err("Expected LocationQuery | null, got \"{}\"\n  at [\"location\"]".into()),
            ),
            (
                &[("location[workspace]", "x")],
                Err("Expected a string starting with \"wrk\", got \"x\"\n  at [\"location\"][\"workspace\"]".into()),
            ),
        ] {
            assert_eq!(query(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn identifiers_in_paths_are_checked() {
        let decoder = Decoder::<MessageParams>::new(Channel::Params);
        assert_eq!(
            decoder.pairs(&[("sessionID", "ses_1"), ("messageID", "foo")]),
            Err(Failure::InvalidRequest {
                message:
                    "Expected a string starting with \"msg_\", got \"foo\"\n  at [\"messageID\"]"
                        .into(),
                kind: Some(Channel::Params),
                field: None,
            })
        );
        let long = format!("msg_{}", "x".repeat(300));
        let failure = decoder.pairs(&[("sessionID", "ses_1"), ("messageID", &long)]);
        assert_eq!(
            failure.unwrap_err().message(),
            "Expected an identifier of at most 256 bytes, got 304"
        );
    }

    #[test]
    fn bodies_are_decoded_and_problems_reported() {
        let prompt = PromptPayload {
            id: None,
            prompt: PromptInput {
                text: "hi".into(),
                files: None,
                agents: None,
            },
            delivery: Some(Delivery::Queue),
            resume: None,
            system: None,
            tools: None,
            agent: None,
            model: None,
            variant: None,
            output: None,
            mentions: None,
        };
        assert_eq!(
            body(
                r#"{"id":null,"prompt":{"text":"hi","x":1},"delivery":"queue","resume":null,"y":2}"#
            ),
            Ok(prompt)
        );
        assert_eq!(
            body(r#"{"id":"ses_a","id":"ses_b"}"#),
            Ok(SessionCreatePayload {
                id: SessionID::parse("ses_b").ok(),
                ..SessionCreatePayload::default()
            })
        );
        for (text, message) in [
            ("", "Expected object, got undefined"),
            ("null", "Expected object, got null"),
            ("[]", "Expected object, got []"),
            ("{}", "Missing key\n  at [\"prompt\"]"),
            (
                r#"{"prompt":null}"#,
                "Expected PromptInput, got null\n  at [\"prompt\"]",
            ),
            (
                r#"{"prompt":"hi"}"#,
                "Expected PromptInput, got \"hi\"; write prompt: { text: \"hi\" }\n  at [\"prompt\"]",
            ),
            (
                r#"{"prompt":{"text":"","files":[{"uri":1}]}}"#,
                "Expected string, got 1\n  at [\"prompt\"][\"files\"][0][\"uri\"]",
            ),
            (
                r#"{"prompt":{"text":""},"tools":{"read":"no"}}"#,
                "Expected boolean, got \"no\"\n  at [\"tools\"][\"read\"]",
            ),
            (
                r#"{"prompt":{"text":""},"output":{"schema":{},"retries":11}}"#,
                "Expected a value less than or equal to 10, got 11\n  at [\"output\"][\"retries\"]",
            ),
            (
                r#"{"prompt":{"text":""},"output":{"schema":{},"retries":null}}"#,
                "Expected number, got null\n  at [\"output\"][\"retries\"]",
            ),
            (
                r#"{"prompt":{"text":""},"tools":null}"#,
                "Expected object, got null\n  at [\"tools\"]",
            ),
            (
                r#"{"prompt":{"text":""},"delivery":"later"}"#,
                "Expected \"steer\" | \"queue\", got \"later\"\n  at [\"delivery\"]",
            ),
        ] {
            assert_eq!(body::<PromptPayload>(text), Err(message.into()), "{text}");
        }
        let long = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(5000));
        assert_eq!(
            body::<PromptPayload>(&long),
            Err("Expected PromptInput, got a string; write prompt: { text: \"...\" }\n  at [\"prompt\"]".into())
        );
        for (model, shape) in [
            ("fake/m1", r#"{ providerID: "fake", id: "m1" }"#),
            ("m1", r#"{ providerID: "...", id: "m1" }"#),
        ] {
            assert_eq!(
                body::<SessionCreatePayload>(&format!(r#"{{"model":"{model}"}}"#)),
                Err(format!(
                    "Expected ModelRef, got \"{model}\"; write model: {shape}\n  at [\"model\"]"
                ))
            );
        }
        for (text, what) in [
            (
                r#"{"olderThan":null,"keepLast":3}"#,
                "number, got null\n  at [\"olderThan\"]",
            ),
            (
                r#"{"olderThan":1,"keepLast":null}"#,
                "number, got null\n  at [\"keepLast\"]",
            ),
            (
                r#"{"archived":null}"#,
                "boolean, got null\n  at [\"archived\"]",
            ),
        ] {
            let refused = Err(format!("Expected {what}"));
            assert_eq!(body::<SessionPrunePayload>(text), refused, "{text}");
        }
        for (text, what) in [
            (
                r#"{"permission":null}"#,
                "array, got null\n  at [\"permission\"]",
            ),
            (
                r#"{"budget":null}"#,
                "SessionBudget, got null\n  at [\"budget\"]",
            ),
            (
                r#"{"budget":{"tokens":null}}"#,
                "number, got null\n  at [\"budget\"][\"tokens\"]",
            ),
            (
                r#"{"budget":{"cost":null}}"#,
                "number, got null\n  at [\"budget\"][\"cost\"]",
            ),
            (
                r#"{"budget":{"turns":null}}"#,
                "number, got null\n  at [\"budget\"][\"turns\"]",
            ),
            (
                r#"{"budget":{"durationMs":null}}"#,
                "number, got null\n  at [\"budget\"][\"durationMs\"]",
            ),
        ] {
            let refused = Err(format!("Expected {what}"));
            assert_eq!(body::<SessionCreatePayload>(text), refused, "{text}");
            let refused = Err(format!("Expected {what}"));
            assert_eq!(body::<SessionUpdatePayload>(text), refused, "{text}");
        }
        assert!(
            body::<SessionPrunePayload>("{}").is_ok() && body::<SessionCreatePayload>("{}").is_ok()
        );
        for text in ["{", "\u{feff}{}", &"[".repeat(100_000)] {
            let message = body::<PromptPayload>(text).unwrap_err();
            assert!(message.starts_with("Malformed JSON: "), "{message}");
        }
    }

    #[test]
    fn the_number_of_values_in_a_body_is_bounded() {
        // The body, its prompt, the text and the list are values too.
        let with = |ones: usize| {
            let more = vec!["1"; ones].join(",");
            format!(r#"{{"prompt":{{"text":"\\\",[{{"}},"more":[{more}]}}"#)
        };
        let decode = |text: &str| body::<PromptPayload>(text).map(|payload| payload.prompt.text);
        assert_eq!(decode(&with(MAX_VALUES - 4)), Ok("\\\",[{".into()));
        assert_eq!(
            decode(&with(MAX_VALUES - 3)),
            Err("Expected at most 262144 values, got more".into())
        );
    }
}
