//! The kinds of values.

use super::member::Object;

/// The values that a member may have.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Any JSON value. Its members are not checked.
    Json,
    /// Any value. TypeScript does not check it either, for members with unknown names beside other members.
    Unknown,
    /// The value `null`.
    Null,
    /// The value `false`.
    False,
    /// A boolean.
    Boolean,
    /// A text.
    Text,
    /// A text that begins with another one.
    Prefixed(&'static str),
    /// One of these texts.
    Words(&'static [&'static str]),
    /// A number.
    Number(Number),
    /// An array.
    List {
        /// Its elements.
        of: &'static Kind,
        /// Maximum number of elements.
        most: Option<usize>,
    },
    /// An object whose members may have any name.
    Map {
        /// Its members.
        of: &'static Kind,
        /// Maximum number of members.
        most: Option<usize>,
    },
    /// An object with known members.
    Object(&'static Object),
    /// One of these kinds. The members of all objects among them are known.
    OneOf(&'static [Kind]),
    /// A kind with a name.
    Named(&'static Named),
    /// A value of an option whose type and check are written in TypeScript.
    Written(Written),
}

impl Kind {
    /// A list without a bound of its own.
    pub const fn list(of: &'static Kind) -> Self {
        Self::List { of, most: None }
    }

    /// An object whose members may have any name, without a bound of its own.
    pub const fn map(of: &'static Kind) -> Self {
        Self::Map { of, most: None }
    }

    /// A type and its check, written in TypeScript.
    pub const fn written(text: &'static str, check: &'static str) -> Self {
        Self::Written(Written { text, is_method: false, check, members: None })
    }

    /// A method, by its parameters and its result.
    pub const fn method(text: &'static str) -> Self {
        Self::Written(Written { text, is_method: true, check: "checkFunction", members: None })
    }

    /// A type, and its check that takes the table of checks of an object.
    pub const fn written_with(text: &'static str, check: &'static str, members: &'static Object) -> Self {
        Self::Written(Written { text, is_method: false, check, members: Some(members) })
    }

    /// The kinds of which a value may be: those behind names and alternatives.
    pub fn alternatives(&'static self) -> Vec<&'static Kind> {
        match self {
            Self::OneOf(kinds) => kinds.iter().flat_map(Kind::alternatives).collect(),
            Self::Named(named) => named.kind.alternatives(),
            kind => vec![kind],
        }
    }

    /// The object, if the kind is one object.
    pub fn object(&self) -> Option<&'static Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// A kind with a name in TypeScript and in the JSON Schema.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The meaning, in whole sentences.
    pub doc: &'static str,
    /// The values.
    pub kind: Kind,
}

/// A type and a check that are written in TypeScript.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// The type, or the parameters and the result of a method.
    pub text: &'static str,
    /// True for a method.
    pub is_method: bool,
    /// The function in `src/host/checks.ts` or `src/host/option-checks.ts` that checks a value.
    pub check: &'static str,
    /// The object whose table of checks the function takes.
    pub members: Option<&'static Object>,
}

/// The numbers that a member may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Lower bound.
    pub least: Option<u32>,
    /// Upper bound.
    pub most: Option<u32>,
    /// True if the host refuses a fraction. Otherwise it rounds a count down.
    pub is_whole: bool,
    /// The unit, such as `bytes`. Empty for a pure number.
    pub unit: &'static str,
}

impl Number {
    /// Any number.
    pub const ANY: Self = Self { least: None, most: None, is_whole: false, unit: "" };

    /// A number from this one on.
    pub const fn from(least: u32, unit: &'static str) -> Self {
        Self { least: Some(least), unit, ..Self::ANY }
    }

    /// A number in a unit. A smaller one than 0 counts as 0.
    pub const fn of(unit: &'static str) -> Self {
        Self { unit, ..Self::ANY }
    }

    /// A number without a fraction.
    pub const fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// A number up to this one.
    pub const fn to(self, most: u32) -> Self {
        Self { most: Some(most), ..self }
    }

    /// The unit and the bounds as a sentence. Empty for any number.
    pub fn sentence(&self) -> String {
        let number = if self.is_whole { "A whole number" } else { "A number" };
        let unit = match self.unit {
            "" => String::new(),
            unit => format!(" of {unit}"),
        };
        match (self.least, self.most) {
            (Some(least), Some(most)) => format!("{number}{unit} from {least} to {most}."),
            (Some(least), None) => format!("{number}{unit} from {least} on."),
            _ if *self == Self::ANY => String::new(),
            _ => format!("{number}{unit}."),
        }
    }
}
