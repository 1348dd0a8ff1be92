//! What parameters a tool takes, written once.
//!
//! The vocabulary is no larger than the built-in tools need, and every value of it is `const`. It
//! only describes: arguments are checked against the JSON Schema that is made of it.
//!
//! ```
//! use opencode_tools::{Field, Object, Schema};
//!
//! const INPUT: Object = Object {
//!     fields: &[
//!         Field::required("path", Schema::String),
//!         Field::optional("limit", Schema::PositiveInteger { maximum: Some(10) })
//!             .describe("How many to return."),
//!     ],
//! };
//! assert_eq!(INPUT.json_schema()["required"], serde_json::json!(["path"]));
//! ```

mod json_schema;

/// An object with the fields it may have. Others are ignored in arguments, though the advertised
/// schema forbids them: models invent fields, and refusing them helps nobody.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// In the order they are advertised and checked.
    pub fields: &'static [Field],
}

/// One field of an [`Object`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    schema: Schema,
    required: bool,
    description: Option<&'static str>,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// Any string.
    String,
    /// `true` or `false`.
    Boolean,
    /// A whole number above zero that JavaScript can represent exactly.
    PositiveInteger {
        /// The largest accepted value.
        maximum: Option<u32>,
    },
    /// A number above zero.
    PositiveNumber {
        /// The largest accepted value.
        maximum: u32,
    },
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A list of values of one kind.
    Array(&'static Schema),
    /// An object that is defined once under this name and referred to.
    Named(&'static str, &'static Object),
}

impl Field {
    /// A field that every input has.
    #[must_use]
    pub const fn required(name: &'static str, schema: Schema) -> Self {
        Self {
            name,
            schema,
            required: true,
            description: None,
        }
    }

    /// A field that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, schema: Schema) -> Self {
        Self {
            name,
            schema,
            required: false,
            description: None,
        }
    }

    /// The same field with a text for the model.
    #[must_use]
    pub const fn describe(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }
}
