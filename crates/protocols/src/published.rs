//! The published forms of what a provider sends and a request may repeat.
//!
//! A server refuses a request with a value of another form, and a session sends what it stored with each request. So a
//! request repeats only values of these forms, and only the members that the type of a request has.

use opencode_llm::canonical::request::JsonMap;
use serde_json::Value;

/// A form of a value.
pub(super) enum Form {
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    Number,
    Flag,
    /// The value may be null.
    Nullable(&'static Self),
    /// The value may be null, and the member may be absent.
    Optional(&'static Self),
    List(&'static Self),
    /// A value of one of these forms.
    Either(&'static [Self]),
    /// An object of this type with these members. Others are left out.
    Object(&'static str, &'static [(&'static str, Self)]),
    /// An object with any members.
    Members,
}

impl Form {
    /// Returns the part of a value that has this form. `None` if the value has another form.
    pub(super) fn kept(&self, value: &Value) -> Option<Value> {
        let is_own = match self {
            Self::Text => value.is_string(),
            Self::OneOf(texts) => value.as_str().is_some_and(|text| texts.contains(&text)),
            Self::Number => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::Members => value.is_object(),
            Self::Nullable(_) | Self::Optional(_) if value.is_null() => true,
            Self::Nullable(form) | Self::Optional(form) => return form.kept(value),
            Self::List(form) => return value.as_array()?.iter().map(|it| form.kept(it)).collect(),
            Self::Either(forms) => return forms.iter().find_map(|form| form.kept(value)),
            Self::Object(kind, members) => return object(value.as_object()?, kind, members),
        };
        is_own.then(|| value.clone())
    }
}

fn object(given: &JsonMap, kind: &str, members: &[(&str, Form)]) -> Option<Value> {
    if given.get("type")? != kind {
        return None;
    }
    let is_whole = members
        .iter()
        .all(|(name, form)| given.contains_key(*name) || matches!(form, Form::Optional(_)));
    let mut kept = JsonMap::new();
    for (name, value) in given {
        let form = members.iter().find(|(known, _)| known == name);
        match form {
            Some((_, form)) => kept.insert(name.clone(), form.kept(value)?),
            None if name == "type" => kept.insert(name.clone(), value.clone()),
            None => None,
        };
    }
    is_whole.then_some(Value::Object(kept))
}
