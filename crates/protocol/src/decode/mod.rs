//! Decodes the text of a request into the input of an operation.
//!
//! Every part of a request is first checked against its schema, so that the first problem is reported with its path.
//! Then it is decoded. Undeclared members are ignored, and `null` in an optional field means that it is absent, unless
//! the field is a bound or a rule, whose loss would permit more.

mod schemas;

use std::marker::PhantomData;
use std::sync::OnceLock;

use opencode_schema::check::{Issue, Nulls, check, normalise_integers};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::number;
use crate::operation::Channel;
use crate::shape::with_right_shape;

pub use schemas::generate as generate_schemas;

/// Maximum number of values in a body, nested or in lists. A decoded value needs up to forty times the memory of its
/// text, so a body of many small values would need gigabytes.
const MAX_VALUES: usize = 1 << 18;

/// Reads a part of requests.
#[derive(Debug)]
pub struct Decoder<T> {
    checker: Checker,
    input: PhantomData<fn() -> T>,
}

/// Checks a part of requests. It does not depend on the type of the input, so its code stands in the addon once.
#[derive(Debug)]
struct Checker {
    channel: Channel,
    /// The operation whose generated schema is read for the first request.
    operation: &'static str,
    read: OnceLock<Compiled>,
}

/// A schema, and the fields of its object.
#[derive(Debug)]
struct Compiled {
    schema: Value,
    fields: Vec<(String, Form)>,
}

impl Compiled {
    fn new(schema: Value) -> Self {
        let fields = properties(&schema)
            .map(|(name, field)| (name.clone(), form(&schema, field)))
            .collect();
        Self { schema, fields }
    }
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
    /// Returns a decoder with the schema of the type itself, for tests.
    pub fn new(channel: Channel) -> Self {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<T>().to_value();
        let checker = Checker {
            channel,
            operation: "",
            read: Compiled::new(schema).into(),
        };
        let input = PhantomData;
        Self { checker, input }
    }
}

impl<T: DeserializeOwned> Decoder<T> {
    /// Returns a decoder for this part of the requests of an operation.
    pub const fn of_operation(operation: &'static str, channel: Channel) -> Self {
        let checker = Checker {
            channel,
            operation,
            read: OnceLock::new(),
        };
        let input = PhantomData;
        Self { checker, input }
    }

    /// Reads a body. Bytes that are not UTF-8 are read as the replacement character.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` with the first problem.
    pub fn body(&self, bytes: &[u8]) -> Result<T, Failure> {
        self.decode(self.checker.body(bytes)?)
    }

    /// Reads the decoded names and values of a path or a query.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` with the first problem.
    pub fn pairs<N: AsRef<str>, V: AsRef<str>>(&self, pairs: &[(N, V)]) -> Result<T, Failure> {
        self.decode(self.checker.pairs(pairs)?)
    }

    /// Problems that a schema cannot express, such as the maximum length of an id, are found here.
    fn decode(&self, value: Value) -> Result<T, Failure> {
        serde_json::from_value(value)
            .map_err(|error| self.checker.refuse(&Issue::new(error.to_string())))
    }
}

impl Checker {
    fn compiled(&self) -> &Compiled {
        let read = || Compiled::new(schemas::of_operation(self.operation, self.channel));
        self.read.get_or_init(read)
    }

    fn body(&self, bytes: &[u8]) -> Result<Value, Failure> {
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

    fn pairs<N: AsRef<str>, V: AsRef<str>>(&self, pairs: &[(N, V)]) -> Result<Value, Failure> {
        let mut members = Map::new();
        for (name, form) in &self.compiled().fields {
            let value = field(form, name, pairs);
            let value = value.map_err(|issue| self.refuse(&issue.at_key(name)))?;
            members.extend(value.map(|value| (name.clone(), value)));
        }
        self.value(Value::Object(members))
    }

    fn value(&self, mut value: Value) -> Result<Value, Failure> {
        check(&self.compiled().schema, &value, Nulls::Absent)
            .map_err(|issue| self.refuse(&with_right_shape(issue, &value)))?;
        normalise_integers(&mut value);
        if let Value::Object(members) = &mut value {
            members.retain(|_, member| !member.is_null());
        }
        Ok(value)
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
mod tests;
