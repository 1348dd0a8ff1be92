//! YAML values with all members of their mappings, and with the positions of the names.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;

use super::front_matter::below_fence;
use crate::config::{Member, Node, Position};

/// A value of YAML.
pub(super) struct Yaml(pub Node<Position>);

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Builder).map(Yaml)
    }
}

struct Builder;

fn plain<E>(value: impl Into<Value>) -> Result<Node<Position>, E> {
    Ok(Node::Plain(value.into()))
}

impl<'de> Visitor<'de> for Builder {
    type Value = Node<Position>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Self::Value, E> {
        number(value as f64)
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Self::Value, E> {
        number(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        number(value)
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        plain(value)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        plain(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        plain(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Yaml(element)) = access.next_element()? {
            elements.push(element);
        }
        Ok(Node::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, Yaml(value))) = access.next_entry::<Spanned<String>, Yaml>()? {
            let place = name.referenced;
            members.push(Member {
                name: name.value,
                at: below_fence(place.line(), place.column()),
                value,
            });
        }
        Ok(Node::Object(members))
    }
}

fn number<E: serde::de::Error>(value: f64) -> Result<Node<Position>, E> {
    let number = Number::from_f64(value).ok_or_else(|| E::custom("The number is not finite"))?;
    Ok(Node::Plain(Value::Number(number)))
}
