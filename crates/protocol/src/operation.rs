//! The declaration of one operation. The declarations themselves are in [`crate::operations`].

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

pub use crate::channel::Channel;
use crate::failure::Tag;

/// HTTP methods that operations use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "their names are their meaning")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// Middleware that a request passes before its operation. This crate decides only the placement; the server implements
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Middleware {
    /// Checks credentials, if the host requires any.
    Authorization,
    /// Finds the session of the path, before the rest of the request is read.
    Session,
    /// Resolves the Location that the request selects.
    Location,
}

/// Returns the schema of a type, and collects the types that it refers to.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The content of the body of a request.
#[derive(Debug, Clone, Copy)]
pub enum Payload {
    /// None: any body is ignored.
    None,
    /// These fields, as JSON.
    Json(SchemaOf),
    /// One JSON text per line ([`LINES_TYPE`]), for content of unknown length.
    Lines,
}

/// The content type of bodies with one JSON text per line.
pub const LINES_TYPE: &str = "application/x-ndjson";

/// The answer of a successful call.
#[derive(Debug, Clone, Copy)]
pub enum Success {
    /// 200 with `{data}`; clients see the value of `data`.
    Value(SchemaOf),
    /// 200 with an object that clients see as it is.
    Whole(SchemaOf),
    /// 200 with `{data, cursor}`; clients see a Page.
    Page(SchemaOf),
    /// 204 without a body.
    Void,
    /// 200 with server-sent events.
    Stream {
        /// One event.
        element: SchemaOf,
        /// True if the stream may end. Otherwise an end means that the stream was cut.
        ends: bool,
    },
    /// 200 with one JSON text per line ([`LINES_TYPE`]). Every line ends in a line feed. A body that
    /// breaks, or ends without a line feed, is incomplete.
    Lines,
    /// 200 with bytes. The content type is in the answer.
    Bytes,
}

/// One operation as data.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Name on the wire, such as `v2.session.prompt`.
    pub id: &'static str,
    /// Name in clients: a group and a method, such as `sessions.prompt`.
    pub name: &'static str,
    /// Description for the callers of clients.
    pub doc: &'static str,
    /// Method.
    pub method: Method,
    /// Path with `{parameters}`. The last one may be `{*rest}`, which takes the rest of the path.
    pub path: &'static str,
    /// Headers that a request must carry, in lower case, with their values.
    pub headers: &'static [(&'static str, &'static str)],
    /// Fields of the path.
    pub params: Option<SchemaOf>,
    /// Fields of the query.
    pub query: Option<SchemaOf>,
    /// Content of the body.
    pub payload: Payload,
    /// Answer of a successful call.
    pub success: Success,
    /// The failures in addition to [`COMMON_ERRORS`] and, if the path contains a session,
    /// [`Tag::SessionUnreadable`].
    pub errors: &'static [Tag],
    /// Middleware that a request passes first, in this order.
    pub middleware: &'static [Middleware],
    /// True if it is an addition to the implemented contract.
    pub extension: bool,
    /// True if its request becomes a WebSocket. Clients omit it, because there is no answer.
    pub omitted: bool,
}

/// Failures that every operation declares: a client drops the body of a status that is not declared.
pub const COMMON_ERRORS: &[Tag] = &[
    Tag::InvalidRequest,
    Tag::Unauthorized,
    Tag::Unknown,
    Tag::ServiceUnavailable,
    Tag::StorePoisoned,
];

/// Further statuses of [`Tag::InvalidRequest`] for a body that did not arrive: it took too long, or it is
/// too large. Only listeners have such limits.
pub const BODY_STATUSES: [u16; 2] = [408, 413];

/// An operation as a type: the input and the result of its handler.
pub trait Operation {
    /// Fields of the path, or [`Nothing`](crate::input::Nothing).
    type Params;
    /// Fields of the query, or `Nothing`.
    type Query;
    /// Fields of the body, or `Nothing`.
    type Payload;
    /// The body of a success, or `()` for no body and for bytes. For a stream: one event. For lines:
    /// one line.
    type Success;
    /// The operation as data.
    const SPEC: Spec;
}

impl Spec {
    /// Returns all declared failures of the operation, by status.
    pub fn errors(&self) -> Vec<Tag> {
        let mut errors: Vec<Tag> = COMMON_ERRORS.iter().chain(self.errors).copied().collect();
        if self.path.contains("{sessionID}") {
            errors.push(Tag::SessionUnreadable);
        }
        errors.sort_by_key(|tag| (tag.status(), *tag));
        errors.dedup();
        errors
    }
}

impl Method {
    /// Returns the name of the method on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Returns the schema of `T`. It has the type of a [`SchemaOf`].
pub(crate) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Declares operations: a type that implements [`Operation`] for each, and the list of all.
macro_rules! operations {
    ($(
        $(#[doc = $doc:literal])+
        $operation:ident = $id:literal => $name:literal {
            $method:ident $path:literal,
            $(headers: [$($header:literal: $value:literal),+],)?
            $(params: $params:ty,)?
            $(query: $query:ty,)?
            $(payload: $payload:tt,)?
            success: $kind:ident $(($($success:tt)+))?,
            errors: [$($error:ident),*],
            middleware: [$($middleware:ident),*],
            $(extension: $extension:literal,)?
            $(omitted: $omitted:literal,)?
        }
    )*) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $operation;

            impl $crate::operation::Operation for $operation {
                type Params = operations!(@type $($params)?);
                type Query = operations!(@type $($query)?);
                type Payload = operations!(@fields $($payload)?);
                type Success = operations!(@$kind $($($success)+)?);
                const SPEC: $crate::operation::Spec = $crate::operation::Spec {
                    id: $id,
                    name: $name,
                    doc: concat!($($doc, "\n"),+),
                    method: $crate::operation::Method::$method,
                    path: $path,
                    headers: &[$($(($header, $value)),+)?],
                    params: operations!(@schema $($params)?),
                    query: operations!(@schema $($query)?),
                    payload: operations!(@payload $($payload)?),
                    success: operations!(@success $kind $($($success)+)?),
                    errors: &[$($crate::failure::Tag::$error),*],
                    middleware: &[$($crate::operation::Middleware::$middleware),*],
                    extension: false $(|| $extension)?,
                    omitted: false $(|| $omitted)?,
                };
            }
        )*

        /// The operations of this file, in the order of declaration.
        pub(super) const OPERATIONS: &[$crate::operation::Spec] =
            &[$( <$operation as $crate::operation::Operation>::SPEC, )*];
    };
    (@type) => { $crate::input::Nothing };
    (@type $type:ty) => { $type };
    (@schema) => { None };
    (@schema $type:ty) => { Some($crate::operation::schema_of::<$type>) };
    (@fields) => { $crate::input::Nothing };
    (@fields lines) => { $crate::input::Nothing };
    (@fields $type:ty) => { $type };
    (@payload) => { $crate::operation::Payload::None };
    (@payload lines) => { $crate::operation::Payload::Lines };
    (@payload $type:ty) => { $crate::operation::Payload::Json($crate::operation::schema_of::<$type>) };
    (@value $type:ty) => { $crate::output::Data<$type> };
    (@whole $type:ty) => { $type };
    (@page $type:ty) => { $type };
    (@void) => { () };
    (@lines) => { String };
    (@bytes) => { () };
    (@stream $type:ty, ends: $ends:literal) => { $type };
    (@success value $type:ty) => { $crate::operation::Success::Value($crate::operation::schema_of::<$type>) };
    (@success whole $type:ty) => { $crate::operation::Success::Whole($crate::operation::schema_of::<$type>) };
    (@success page $type:ty) => { $crate::operation::Success::Page($crate::operation::schema_of::<$type>) };
    (@success void) => { $crate::operation::Success::Void };
    (@success lines) => { $crate::operation::Success::Lines };
    (@success bytes) => { $crate::operation::Success::Bytes };
    (@success stream $type:ty, ends: $ends:literal) => {
        $crate::operation::Success::Stream { element: $crate::operation::schema_of::<$type>, ends: $ends }
    };
}
pub(crate) use operations;
