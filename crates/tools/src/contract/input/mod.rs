//! Describes the parameters of a tool.
//!
//! The vocabulary contains only what the built-in tools need, and all its values are `const`. It does
//! not check arguments itself: they are checked against the JSON Schema that is made of it.
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

/// An object with its possible fields. Other fields in arguments are ignored, although the advertised
/// schema forbids them: models invent fields, and refusing those calls has no benefit.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The fields, in the order in which they are advertised and checked.
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

/// The type of a value.
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
    /// A list of values of one type.
    Array(&'static Schema),
    /// An object that is defined once under this name and then referenced.
    Named(&'static str, &'static Object),
}

impl Field {
    /// Creates a field that every input must have.
    #[must_use]
    pub const fn required(name: &'static str, schema: Schema) -> Self {
        Self {
            name,
            schema,
            required: true,
            description: None,
        }
    }

    /// Creates a field that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, schema: Schema) -> Self {
        Self {
            name,
            schema,
            required: false,
            description: None,
        }
    }

    /// Returns the same field with a description for the model.
    #[must_use]
    pub const fn describe(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }
}
