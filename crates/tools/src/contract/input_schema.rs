//! Makes the advertised schema of an input from its type.
//!
//! `schemars` derives more than a model needs, in another order. Providers cache by the bytes of a
//! schema, so this form stays.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Returns the schema of a whole input, with the definitions that it references.
pub(crate) fn input_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let generator = settings.with_transform(simplify).into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Rewrites a schema, after the schemas in it, so that the parts of an `allOf` are not grouped again.
fn simplify(schema: &mut Schema) {
    transform_subschemas(&mut simplify, schema);
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    // The name and the width of a Rust type tell the model nothing.
    keywords.shift_remove("title");
    keywords.shift_remove("format");
    remove_null(keywords);
    group_bounds(keywords);
    let description = keywords.shift_remove("description");
    if keywords.get("type").is_some_and(|kind| kind == "object") {
        // Arguments with other fields are accepted, but the model should not invent any. The
        // description of an object is a comment for developers.
        keywords.insert("additionalProperties".to_owned(), false.into());
    } else if let Some(description) = description {
        keywords.insert("description".to_owned(), description);
    }
    // `schemars` lists definitions as it meets them.
    if let Some(Value::Object(mut definitions)) = keywords.shift_remove("$defs") {
        definitions.sort_keys();
        keywords.insert("$defs".to_owned(), definitions.into());
    }
}

/// Removes the `null` of an [`Option`]. An optional field is absent, never null.
fn remove_null(keywords: &mut Map<String, Value>) {
    if let Some([kind, null]) = keywords
        .get("type")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        && null == "null"
    {
        let kind = kind.clone();
        keywords.insert("type".to_owned(), kind);
    }
    if let Some(Value::Array(texts)) = keywords.get_mut("enum") {
        texts.retain(|text| !text.is_null());
    }
}

/// Puts each bound of a number into its own part of `allOf`, and writes "at least 1" as "above 0" for
/// integers. This is the form of the contract.
fn group_bounds(keywords: &mut Map<String, Value>) {
    let is_integer = keywords.get("type").is_some_and(|kind| kind == "integer");
    if is_integer && keywords.get("minimum").is_some_and(|least| least == 1) {
        keywords.shift_remove("minimum");
        keywords.insert("exclusiveMinimum".to_owned(), 0.into());
    }
    let bounds = ["exclusiveMinimum", "minimum", "maximum"].into_iter();
    let bounds = bounds.filter_map(|key| Some(json!({ key: keywords.shift_remove(key)? })));
    let bounds: Vec<Value> = bounds.collect();
    if !bounds.is_empty() {
        keywords.insert("allOf".to_owned(), bounds.into());
    }
}
