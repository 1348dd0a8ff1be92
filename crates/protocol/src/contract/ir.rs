//! The types of the IR. Their JSON form is that of `contract.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::operation::{Channel, Method, Middleware};

/// The whole contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Contract {
    /// [`FORMAT`](super::FORMAT).
    pub format: u32,
    /// The operations, in the order of declaration.
    pub operations: Vec<Operation>,
    /// The failures, by tag. The body of each is the type of the same name.
    pub failures: BTreeMap<String, FailureStatus>,
    /// The named types.
    pub types: BTreeMap<String, Definition>,
}

/// The form of a failure on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureStatus {
    /// The member of the body that holds the tag.
    pub key: String,
    /// HTTP status. Failures that are never sent over HTTP have none.
    pub status: Option<u16>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Name on the wire.
    pub id: String,
    /// Group of the operation.
    pub group: Group,
    /// Name of the method within the group. Dots separate nested groups.
    pub name: String,
    /// Description of the operation.
    pub doc: String,
    /// True if it is an addition to the implemented contract.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extension: bool,
    /// True if its request becomes a WebSocket. Generated clients omit it, because there is no answer.
    #[serde(default, skip_serializing_if = "is_false")]
    pub omitted: bool,
    /// HTTP method.
    pub method: Method,
    /// The path in pieces.
    pub path: Vec<Segment>,
    /// Headers of every request of the operation, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Input of the callers.
    pub input: OperationInput,
    /// Answer of a successful call.
    pub success: Success,
    /// The declared failures, by status and tag.
    pub errors: Vec<DeclaredError>,
    /// Middleware that a request passes first, in this order.
    pub middleware: Vec<Middleware>,
}

/// A group of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name on the wire, from the operation's id.
    pub wire: String,
    /// Name in clients.
    pub public: String,
}

/// A piece of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Segment {
    /// Text.
    Literal(String),
    /// The value of the field with this name.
    Parameter(String),
    /// The value of the field with this name as the rest of the path. Its slashes are not encoded.
    Rest(String),
}

/// The input of callers: one object, independent of the parts of the request that carry its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationInput {
    /// Presence of the input.
    pub mode: InputMode,
    /// Fields of the input: first those of the path, then query, then body.
    pub fields: Vec<InputField>,
    /// Form of the body of the request.
    pub payload: Payload,
}

/// The form of the body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Payload {
    /// The request has no body.
    None,
    /// A JSON object of the fields of the body. It may be empty.
    Json,
    /// One JSON text per line, as `application/x-ndjson`. Optional fields of the query are options of the call.
    Lines,
}

/// Presence of an input in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputMode {
    /// The operation has no input.
    None,
    /// Callers may omit it.
    Optional,
    /// Callers must pass it.
    Required,
}

/// One field of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputField {
    /// Name in the input and on the wire.
    pub name: String,
    /// The part of the request that carries it.
    pub channel: Channel,
    /// Encoding of the field there.
    pub encoding: Encoding,
    /// True if the field is required.
    pub required: bool,
    /// Description of the field.
    pub doc: String,
    /// Its type.
    pub r#type: Type,
}

/// The encoding of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Encoding {
    /// As a member of a JSON object.
    Json,
    /// As text.
    Text,
    /// As the decimal text of a number.
    TextNumber,
    /// As `true` or `false`.
    TextBoolean,
    /// Member by member, as `field[member]`.
    DeepObject,
    /// Item by item, as text. Each item repeats the name of the field.
    RepeatedText,
}

/// The answer of a successful call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum Success {
    /// A value.
    Value {
        /// HTTP status.
        status: u16,
        /// True if the body is exactly `{data}` and the value is that member.
        unwrap: bool,
        /// Type of the value.
        r#type: Type,
    },
    /// A part of a longer list.
    Page(Box<Page>),
    /// No content.
    Void {
        /// HTTP status.
        status: u16,
    },
    /// Events, one after the other.
    Stream {
        /// HTTP status.
        status: u16,
        /// Separation of the events.
        framing: Framing,
        /// The type of one event.
        element: Type,
        /// The name of the frame with which the stream reports its own failure.
        #[serde(rename = "failureEvent")]
        failure_event: String,
        /// True if the stream may end. Otherwise an end means that the stream was cut.
        ends: bool,
    },
    /// JSON texts: a body of `application/x-ndjson` in which every line ends in a line feed. A body
    /// that breaks, or ends without a line feed, is incomplete.
    Lines {
        /// HTTP status.
        status: u16,
    },
    /// Bytes. The header `content-type` of the answer contains their type.
    Bytes {
        /// HTTP status.
        status: u16,
    },
}

/// The answer with a part of a longer list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// HTTP status.
    pub status: u16,
    /// Type of the body.
    pub r#type: Type,
    /// The member of the body with the items.
    pub items: String,
    /// The type of one item.
    pub item: Type,
    /// The member of the body with the cursors `previous` and `next`.
    pub cursors: String,
    /// The type of a cursor.
    pub cursor: Type,
    /// Fields of an initial query, which a query with a cursor must not have.
    pub initial: Vec<String>,
    /// The only fields that a query with a cursor may have.
    pub continuation: Vec<String>,
}

/// The separation of the events of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Framing {
    /// Server-sent events whose data is JSON.
    Sse,
}

/// A declared failure of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredError {
    /// HTTP status.
    pub status: u16,
    /// The tag.
    pub tag: String,
}

/// A named type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Description of the type.
    pub doc: String,
    /// True if it is an addition to the implemented contract.
    #[serde(default, skip_serializing_if = "is_false")]
    pub extension: bool,
    /// The type. A string is a brand of its own: clients cannot construct one.
    pub r#type: Type,
}

/// A type, as its JSON form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
pub enum Type {
    /// Any JSON.
    Unknown,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// Text.
    String {
        /// Type of the decoded text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        brand: Option<String>,
        /// Prefix of the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
        /// Regular expression that the whole text matches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// A number.
    Number {
        /// True if the number has no fraction.
        integer: bool,
        /// Inclusive lower bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minimum: Option<Number>,
        /// Exclusive lower bound.
        #[serde(
            rename = "exclusiveMinimum",
            default,
            skip_serializing_if = "Option::is_none"
        )]
        exclusive_minimum: Option<Number>,
        /// Inclusive upper bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<Number>,
    },
    /// Exactly this value.
    Literal {
        /// The value: a string, a number or a boolean.
        value: Value,
    },
    /// A list.
    Array {
        /// Its items.
        items: Box<Type>,
    },
    /// An object with undeclared keys.
    Record {
        /// Its keys: strings.
        keys: Box<Type>,
        /// Its members.
        values: Box<Type>,
    },
    /// An object with these members. Further members have no meaning.
    Object {
        /// The members, in the order of the wire.
        fields: Vec<Field>,
    },
    /// One of several types.
    Union {
        /// The member with a different literal in every variant, if the variants are objects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        discriminator: Option<String>,
        /// The variants.
        variants: Vec<Variant>,
    },
    /// A named type.
    Ref {
        /// Its name.
        name: String,
    },
}

/// A member of an object. A member that is not required is absent if it has no value. It is never null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// True if the field is always present.
    pub required: bool,
    /// Description of the field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its type.
    pub r#type: Type,
}

/// One of the types of a union.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Description of the variant.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The type.
    pub r#type: Type,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}
