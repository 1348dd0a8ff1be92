//! Names of models in the configuration.

use opencode_schema::model::ModelRef;
use serde_json::Value;

use super::decode::{Decoded, Invalid, object, optional, required, text, wrong};
use super::document::Located;

/// Parses `provider/model` or `provider/model#variant`. Returns `None` if a part is missing.
///
/// The provider ends at the first slash and the variant starts after the last `#`, because model ids
/// may contain both characters.
///
/// ```
/// # use opencode_location::config::parse_model;
/// let model = parse_model("router/vendor/large#high").unwrap();
/// assert_eq!(model.provider_id, "router");
/// assert_eq!(model.id, "vendor/large");
/// assert_eq!(model.variant.as_deref(), Some("high"));
/// ```
pub fn parse_model(text: &str) -> Option<ModelRef> {
    let (provider_id, rest) = text.split_once('/')?;
    let (id, variant) = match rest.rsplit_once('#') {
        Some((id, variant)) => (id, Some(variant)),
        None => (rest, None),
    };
    let complete = !provider_id.is_empty() && !id.is_empty() && variant != Some("");
    complete.then(|| ModelRef {
        id: id.to_owned(),
        provider_id: provider_id.to_owned(),
        variant: variant.map(str::to_owned),
    })
}

/// A model that a document names, with its position.
pub(crate) type NamedModel = Located<ModelRef>;

/// Reads the model that a key names.
pub(super) fn named(source: Located<&Value>) -> Decoded<NamedModel> {
    Ok(Located {
        value: decode(source.value)?,
        position: source.position,
    })
}

/// Reads a model from its text or from the object `{providerID, id, variant?}`.
pub(super) fn decode(value: &Value) -> Decoded<ModelRef> {
    match value {
        Value::String(name) => parse_model(name).ok_or_else(|| {
            Invalid::new("must have the form provider/model or provider/model#variant")
        }),
        Value::Object(_) => {
            let object = object(value)?;
            Ok(ModelRef {
                id: required(object, "id", text)?,
                provider_id: required(object, "providerID", text)?,
                variant: optional(object, "variant", text)?,
            })
        }
        other => Err(wrong("a string or an object", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_model_name_is_parsed() {
        let model = |provider: &str, id: &str, variant: Option<&str>| {
            Some(ModelRef {
                id: id.to_owned(),
                provider_id: provider.to_owned(),
                variant: variant.map(str::to_owned),
            })
        };
        for (text, expected) in [
            ("a/b", model("a", "b", None)),
            ("a/b/c", model("a", "b/c", None)),
            ("a/b#high", model("a", "b", Some("high"))),
            ("a/b#c#high", model("a", "b#c", Some("high"))),
            ("a/b:free", model("a", "b:free", None)),
            ("a", None),
            ("/b", None),
            ("a/", None),
            ("a/#high", None),
            ("a/b#", None),
            ("", None),
        ] {
            assert_eq!(parse_model(text), expected, "{text}");
        }
    }
}
