//! Members of a stream that may have another type than the documented one.
//!
//! Reading one of these types never fails. A value of another type is used if its meaning is certain. Otherwise the
//! member is skipped, as if it were missing. Both are noted for the log, see [`deviations`](super::deviations).

use std::fmt;
use std::marker::PhantomData;

use opencode_llm::canonical::request::JsonMap;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::deviations::{note, type_of};

/// A member with one documented type.
pub(super) trait Member: Default {
    /// The documented type.
    const TYPE: &'static str;

    /// Reads a text.
    fn of_text(text: String) -> Self;

    /// Reads any other value except null.
    fn of_other(value: Value) -> Self;
}

/// A text that is not empty, such as a name that the protocol defines.
#[derive(Default)]
pub(super) struct Loose(Option<String>);

impl Member for Loose {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self(Some(text))
    }

    fn of_other(value: Value) -> Self {
        noted::<Self>(&value);
        Self(match value {
            Value::Array(values) => values.into_iter().find_map(own_text),
            _ => None,
        })
    }
}

/// A text that is not empty, which some servers write as a number, such as an identifier.
#[derive(Default)]
pub(super) struct Id(Option<String>);

impl Member for Id {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self(Some(text))
    }

    fn of_other(value: Value) -> Self {
        noted::<Self>(&value);
        Self(match value {
            Value::Number(number) => Some(number.to_string()),
            Value::Array(values) => values.into_iter().find_map(own_text),
            _ => None,
        })
    }
}

/// Words of the model. Some servers send parts with texts, or a number that the model wrote.
#[derive(Default)]
pub(super) struct Prose(Option<String>);

impl Member for Prose {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self(Some(text))
    }

    fn of_other(value: Value) -> Self {
        noted::<Self>(&value);
        Self(Some(prose(&value)))
    }
}

/// Gives access to members with a text.
macro_rules! texts {
    ($($name:ty),*) => {$(
        impl $name {
            pub(super) const fn is_given(&self) -> bool {
                self.0.is_some()
            }

            pub(super) fn take(&mut self) -> Option<String> {
                self.0.take().filter(|text| !text.is_empty())
            }
        }
    )*};
}

texts!(Loose, Id, Prose);

/// JSON as text, such as the input of a call. Some servers send the value instead.
#[derive(Default)]
pub(super) struct JsonText(pub(super) String);

impl Member for JsonText {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self(text)
    }

    fn of_other(value: Value) -> Self {
        noted::<Self>(&value);
        Self(value.to_string())
    }
}

/// Words of the model, or JSON as text, depending on the event.
#[derive(Default)]
pub(super) enum Piece {
    #[default]
    None,
    Text(String),
    Other(Value),
}

impl Piece {
    /// Takes the words, unless there are none.
    pub(super) fn take_prose(&mut self) -> Option<String> {
        let text = match std::mem::take(self) {
            Self::None => return None,
            Self::Text(text) => text,
            Self::Other(value) => prose(&value),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Takes the JSON.
    pub(super) fn take_json(&mut self) -> String {
        match std::mem::take(self) {
            Self::None => String::new(),
            Self::Text(text) => text,
            Self::Other(value) => value.to_string(),
        }
    }
}

impl Member for Piece {
    const TYPE: &'static str = "a text";

    fn of_text(text: String) -> Self {
        Self::Text(text)
    }

    fn of_other(value: Value) -> Self {
        noted::<Self>(&value);
        Self::Other(value)
    }
}

/// A whole number. Some servers write it as a text or with a fraction of zero.
#[derive(Clone, Copy, Default)]
pub(super) struct Whole(pub(super) Option<i64>);

impl Member for Whole {
    const TYPE: &'static str = "a whole number";

    fn of_text(text: String) -> Self {
        note(Self::TYPE, "a text");
        Self(text.trim().parse().ok())
    }

    fn of_other(value: Value) -> Self {
        if let Some(number) = value.as_i64() {
            return Self(Some(number));
        }
        noted::<Self>(&value);
        // Larger numbers are not exact, and no index needs them.
        const LARGEST: f64 = 9_007_199_254_740_991.0;
        let number = value
            .as_f64()
            .filter(|it| it.fract() == 0.0 && it.abs() <= LARGEST);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number within bounds"
        )]
        Self(number.map(|it| it as i64))
    }
}

/// A truth value. Some servers write it as a text or as a number.
#[derive(Clone, Copy, Default)]
pub(super) struct Flag(pub(super) bool);

impl Member for Flag {
    const TYPE: &'static str = "true or false";

    fn of_text(text: String) -> Self {
        note(Self::TYPE, "a text");
        Self(text.eq_ignore_ascii_case("true"))
    }

    fn of_other(value: Value) -> Self {
        if let Value::Bool(flag) = value {
            return Self(flag);
        }
        noted::<Self>(&value);
        Self(value.as_i64() == Some(1))
    }
}

/// An object with unknown members.
#[derive(Default)]
pub(super) struct Members(pub(super) Option<JsonMap>);

impl Member for Members {
    const TYPE: &'static str = "an object";

    fn of_text(_: String) -> Self {
        note(Self::TYPE, "a text");
        Self(None)
    }

    fn of_other(value: Value) -> Self {
        match value {
            Value::Object(members) => Self(Some(members)),
            other => {
                noted::<Self>(&other);
                Self(None)
            }
        }
    }
}

/// A list of unknown values. Some servers send its only value in its place.
#[derive(Default)]
pub(super) struct Values(pub(super) Vec<Value>);

impl Member for Values {
    const TYPE: &'static str = "a list";

    fn of_text(text: String) -> Self {
        note(Self::TYPE, "a text");
        Self(vec![text.into()])
    }

    fn of_other(value: Value) -> Self {
        match value {
            Value::Array(values) => Self(values),
            object @ Value::Object(_) => {
                noted::<Self>(&object);
                Self(vec![object])
            }
            other => {
                noted::<Self>(&other);
                Self(Vec::new())
            }
        }
    }
}

/// Returns the text of a value, of its parts, or of the member with the text.
pub(super) fn prose(value: &Value) -> String {
    const NAMES: [&str; 7] = [
        "text",
        "content",
        "value",
        "thinking",
        "reasoning",
        "summary",
        "refusal",
    ];
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().map(prose).collect(),
        Value::Object(members) => {
            let found = NAMES
                .iter()
                .find_map(|name| members.get(*name).filter(|it| !it.is_null()));
            found.map(prose).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) => String::new(),
    }
}

/// Writes members of an object in their documented type, a text. Numbers and the JSON of inputs become texts.
pub(super) fn write_texts(object: &mut Value, ids: &[&str], inputs: &[&str]) {
    let Value::Object(members) = object else {
        return;
    };
    for (names, is_input) in [(ids, false), (inputs, true)] {
        for name in names {
            match members.get_mut(*name) {
                None | Some(Value::Null | Value::String(_)) => {}
                Some(other) => {
                    note("a text", type_of(other));
                    if is_input || other.is_number() {
                        *other = other.to_string().into();
                    }
                }
            }
        }
    }
}

/// Returns an object, or the first one of a list.
pub(super) fn object(value: Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value),
        Value::Array(values) => {
            note("an object", "a list");
            values.into_iter().find(Value::is_object)
        }
        Value::Null => None,
        other => {
            note("an object", type_of(&other));
            None
        }
    }
}

/// Returns the values of a list. An object is a list with this object.
pub(super) fn listed(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(values)) => values,
        Some(object @ Value::Object(_)) => {
            note("a list", "an object");
            std::slice::from_ref(object)
        }
        None | Some(Value::Null) => &[],
        Some(other) => {
            note("a list", type_of(other));
            &[]
        }
    }
}

/// Reads a value that is not part of a text.
pub(super) trait Read: Member {
    fn read(value: Value) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::String(text) => Self::of_text(text),
            other => Self::of_other(other),
        }
    }
}

impl<T: Member> Read for T {}

fn own_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn noted<T: Member>(found: &Value) {
    note(T::TYPE, type_of(found));
}

/// Lets members be deserialized.
macro_rules! members {
    ($($name:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::loose::deserialize(deserializer)
            }
        }
    )*};
}

pub(super) use members;

members!(
    Loose, Id, Prose, JsonText, Piece, Whole, Flag, Members, Values
);

/// Reads a member of any type.
pub(super) fn deserialize<'de, T: Member, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(AnyVisitor(PhantomData))
}

struct AnyVisitor<T>(PhantomData<T>);

impl<'de, T: Member> Visitor<'de> for AnyVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::of_text(text))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::of_other(flag.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::of_other(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::of_other(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::of_other(number.into()))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(T::of_other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(T::of_other)
    }
}
