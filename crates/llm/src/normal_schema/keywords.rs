//! The keywords of JSON Schema (draft 2020-12), by the form of their values.

use serde_json::Value;

/// The form of the value of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A schema.
    Schema,
    /// A schema or a boolean that stays a boolean.
    SchemaOrBoolean,
    /// A list of schemas with at least one element.
    Schemas,
    /// Schemas by names.
    NamedSchemas,
    /// Lists of names by names.
    NamedNames,
    /// A list of names.
    Names,
    /// A text.
    Text,
    /// A boolean.
    Boolean,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// A whole number, at least zero.
    Count,
    /// A list with at least one element.
    Values,
    /// Any value.
    Value,
}

/// Returns the form of a keyword. `None` for one that restricts no value and tells a model nothing.
pub fn form(keyword: &str) -> Option<Form> {
    Some(match keyword {
        "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "items" => Form::Schema,
        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
            Form::SchemaOrBoolean
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Form::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Form::NamedSchemas,
        "dependentRequired" => Form::NamedNames,
        "required" => Form::Names,
        "description" | "title" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            Form::Text
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Form::Boolean,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Form::Number,
        "multipleOf" => Form::Positive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Form::Count,
        "enum" | "examples" => Form::Values,
        "const" | "default" => Form::Value,
        _ => return None,
    })
}

/// The names of the types.
pub const TYPES: [&str; 7] = [
    "object", "array", "string", "integer", "number", "boolean", "null",
];

/// Returns the types that a schema names.
pub fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the type of a value. A whole number is an integer.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number)
            if number.is_f64() && number.as_f64().is_some_and(|it| it.fract() != 0.0) =>
        {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// True if a value has a type with this name.
pub fn has_type(value: &Value, name: &str) -> bool {
    let own = type_of(value);
    own == name || (own == "integer" && name == "number")
}
