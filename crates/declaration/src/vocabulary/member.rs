//! Objects and their members.

use std::fmt;

use super::kind::Kind;

/// An object with known members.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its name in TypeScript and in the JSON Schema. Empty if it has none.
    pub name: &'static str,
    /// The meaning, in whole sentences.
    pub doc: &'static str,
    /// A value in TypeScript. Empty if none is needed.
    pub example: &'static str,
    /// The objects whose members it has, too.
    pub extends: &'static [&'static Object],
    /// Its own members.
    pub members: &'static [Member],
    /// The kind of all other members. `None` if there are no others.
    pub others: Option<Kind>,
    /// True if the type is declared elsewhere, so that only its checks are generated.
    pub is_elsewhere: bool,
}

impl Object {
    /// An object without a name.
    pub const fn unnamed(members: &'static [Member]) -> Self {
        Self::named("", "", members)
    }

    /// An object with a name.
    pub const fn named(name: &'static str, doc: &'static str, members: &'static [Member]) -> Self {
        Self { name, doc, example: "", extends: &[], members, others: None, is_elsewhere: false }
    }

    /// Adds the members of other objects.
    pub const fn extends(self, extends: &'static [&'static Object]) -> Self {
        Self { extends, ..self }
    }

    /// Permits members with other names.
    pub const fn others(self, others: Kind) -> Self {
        Self { others: Some(others), ..self }
    }

    /// Marks a type that is declared elsewhere.
    pub const fn elsewhere(self) -> Self {
        Self { is_elsewhere: true, ..self }
    }

    /// Adds an example in TypeScript.
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// All members: its own, then those of the extended objects.
    pub fn all_members(&'static self) -> Vec<&'static Member> {
        let extended = self.extends.iter().flat_map(|object| object.all_members());
        self.members.iter().chain(extended).collect()
    }

    /// The member with a name.
    pub fn member(&'static self, name: &str) -> Option<&'static Member> {
        self.all_members().into_iter().find(|it| it.name == name)
    }
}

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// The meaning, in whole sentences, without default and bounds.
    pub doc: &'static str,
    /// The values. `None` if this form of the object does not have the member.
    pub kind: Option<Kind>,
    /// True if the object needs the member.
    pub is_required: bool,
    /// The value without the member.
    pub default: Default,
    /// An example, as text behind the tag `@example`. Empty if none is needed.
    pub example: &'static str,
    /// The name of the newer generation of the format.
    pub older: Option<Older>,
    /// True if this version does not read the value of the member. The option `config` then accepts values of any type.
    pub is_unused: bool,
    /// True if the member has an effect in files of projects that the host does not trust. Its reader then keeps only text
    /// and restrictions.
    pub in_untrusted: bool,
    /// The uses that the value could have restricted if the host cannot read it.
    pub restricts: Restricts,
    /// The page with more about the member: its title, and its address relative to `docs`.
    pub page: Option<(&'static str, &'static str)>,
}

/// The value without a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// The documents say nothing about it.
    Unsaid,
    /// This boolean.
    Boolean(bool),
    /// This number.
    Number(u64),
    /// This text.
    Text(&'static str),
    /// No fixed value. This says which one, as the end of a sentence.
    Said(&'static str),
}

/// As it stands in documents, with Markdown.
impl fmt::Display for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsaid => Ok(()),
            Self::Boolean(value) => write!(f, "`{value}`"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "`\"{value}\"`"),
            Self::Said(text) => f.write_str(text),
        }
    }
}

/// The relation of an older name to its newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    /// If both are present, only the newer one counts.
    Replaced(&'static str),
    /// If both are present, both count.
    Joined(&'static str),
}

impl Older {
    /// The newer name, as a path from the same object.
    pub const fn newer(self) -> &'static str {
        match self {
            Self::Replaced(newer) | Self::Joined(newer) => newer,
        }
    }
}

/// The uses that a value could have restricted if the host cannot read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restricts {
    /// Nothing.
    Nothing,
    /// Any action: the value is a list of rules.
    Actions,
    /// The actions that name its members.
    NamedActions,
    /// The actions of the tools that name its members.
    NamedTools,
    /// The agents that name its members.
    NamedAgents,
    /// The use of providers.
    Providers,
    /// The sharing of sessions.
    Sharing,
}

impl Restricts {
    /// True if the value holds permissions of tools.
    pub const fn is_permissions(self) -> bool {
        matches!(self, Self::Actions | Self::NamedActions | Self::NamedTools)
    }
}

/// A member with its meaning.
pub const fn member(name: &'static str, kind: Kind, doc: &'static str) -> Member {
    Member {
        name,
        doc,
        kind: Some(kind),
        is_required: false,
        default: Default::Unsaid,
        example: "",
        older: None,
        is_unused: false,
        in_untrusted: false,
        restricts: Restricts::Nothing,
        page: None,
    }
}

/// A member that this form of an object does not have, but another one.
pub const fn absent(name: &'static str) -> Member {
    Member { kind: None, ..member(name, Kind::Json, "") }
}

impl Member {
    /// Makes the member necessary.
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Sets the value without the member.
    pub const fn default(self, default: Default) -> Self {
        Self { default, ..self }
    }

    /// Sets a boolean as the value without the member.
    pub const fn default_is(self, value: bool) -> Self {
        self.default(Default::Boolean(value))
    }

    /// Says which value the member has if it is absent.
    pub const fn without(self, text: &'static str) -> Self {
        self.default(Default::Said(text))
    }

    /// Adds an example.
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Marks an older name, which the newer one replaces.
    pub const fn replaced_by(self, newer: &'static str) -> Self {
        Self { older: Some(Older::Replaced(newer)), ..self }
    }

    /// Marks an older name, which counts in addition to the newer one.
    pub const fn joined_with(self, newer: &'static str) -> Self {
        Self { older: Some(Older::Joined(newer)), ..self }
    }

    /// Marks a member that this version does not read.
    pub const fn unused(self) -> Self {
        Self { is_unused: true, ..self }
    }

    /// Marks a member that has an effect in files of projects that the host does not trust.
    pub const fn in_untrusted(self) -> Self {
        Self { in_untrusted: true, ..self }
    }

    /// Names the uses that a value could have restricted if the host cannot read it.
    pub const fn restricts(self, restricts: Restricts) -> Self {
        Self { restricts, ..self }
    }

    /// Names the page with more about the member.
    pub const fn page(self, title: &'static str, address: &'static str) -> Self {
        Self { page: Some((title, address)), ..self }
    }

    /// The meaning in whole sentences. An older name without a meaning of its own refers to the newer one.
    pub fn sentence(&self) -> String {
        match (self.doc, self.older) {
            ("", Some(older)) => format!("The older name of `{}`.", older.newer()),
            (doc, _) => doc.to_owned(),
        }
    }
}
