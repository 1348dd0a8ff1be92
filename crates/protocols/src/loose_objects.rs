//! Objects with known members in streams, which servers also send alone in place of a list, or in a list in place of
//! one object.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::deviations::note;

/// An object with known members, or the first object of a list. Both are the documented form of some member.
pub(super) struct One<T>(pub(super) Option<T>);

impl<T> Default for One<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneVisitor(PhantomData))
    }
}

/// The first object of a list, and the further ones, which hardly any server sends.
pub(super) struct First<T> {
    pub(super) first: Option<T>,
    pub(super) others: Vec<T>,
}

impl<T> Default for First<T> {
    fn default() -> Self {
        Self {
            first: None,
            others: Vec::new(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

/// Objects with known members. Some servers send the only object in place of the list.
pub(super) struct Many<T>(pub(super) Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(PhantomData))
    }
}

struct OneVisitor<T>(PhantomData<T>);

struct FirstVisitor<T>(PhantomData<T>);

struct ManyVisitor<T>(PhantomData<T>);

/// The methods of a visitor that skip everything except objects and lists.
macro_rules! skip_scalars {
    ($type:literal) => {
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("any value")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            // Some servers send an empty text for nothing.
            if !text.is_empty() {
                note($type, "a text");
            }
            Ok(Self::Value::default())
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            note($type, "true or false");
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            note($type, "a number");
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            note($type, "a number");
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            note($type, "a number");
            Ok(Self::Value::default())
        }
    };
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneVisitor<T> {
    type Value = One<T>;

    skip_scalars!("an object");

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<One<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|it| One(Some(it)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<One<T>, A::Error> {
        let mut first = None;
        while first.is_none() {
            match seq.next_element::<One<T>>()? {
                Some(One(found)) => first = found,
                None => break,
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(One(first))
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = First<T>;

    skip_scalars!("a list");

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<First<T>, A::Error> {
        let first = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(First {
            first: Some(first),
            others: Vec::new(),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<First<T>, A::Error> {
        let mut found = First::default();
        while let Some(One(element)) = seq.next_element::<One<T>>()? {
            match element {
                Some(element) if found.first.is_some() => found.others.push(element),
                element => found.first = found.first.or(element),
            }
        }
        Ok(found)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    skip_scalars!("a list");

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
        note("a list", "an object");
        T::deserialize(MapAccessDeserializer::new(map)).map(|it| Many(vec![it]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(One(found)) = seq.next_element::<One<T>>()? {
            all.extend(found);
        }
        Ok(Many(all))
    }
}
