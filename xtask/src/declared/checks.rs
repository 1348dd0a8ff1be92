//! Tables of checks in TypeScript: for each member of an object, the function that checks its value.

use std::fmt::Write;

use opencode_declaration::vocabulary::{Kind, Member, Number, Object};

use super::typescript::HEADER;
use crate::promise::source::key;

/// The tables of these objects and of all objects within them.
pub(super) fn emit(roots: &[&'static Object]) -> String {
    let mut tables = Tables::default();
    for root in roots {
        tables.name(root);
    }
    tables.functions.push("Check");
    tables.functions.sort_unstable();
    tables.functions.dedup();
    let mut names: Vec<_> = tables.written.iter().map(|object| object.name).collect();
    names.sort_unstable();
    let functions = tables.functions.iter().copied();
    let (special, common): (Vec<&str>, Vec<&str>) =
        functions.partition(|name| SPECIAL.contains(name));
    format!(
        "{HEADER}\nimport {{\n{}}} from \"../checks.js\";\nimport {{\n{}}} from \"../option-checks.js\";\n\
         import type {{\n{}}} from \"../../index.js\";\n\n\
         /** A check for each member of a type. */\n\
         type Checks<T> = Readonly<Record<keyof T, Check>>;\n{}",
        lines(common.into_iter().map(|name| match name {
            "Check" => "type Check".to_owned(),
            name => name.to_owned(),
        })),
        lines(special.into_iter().map(str::to_owned)),
        lines(names.into_iter().map(str::to_owned)),
        tables.text
    )
}

/// The functions of `src/host/option-checks.ts`, which checks values that only one option has.
const SPECIAL: &[&str] = &[
    "checkConfig",
    "checkCredentials",
    "checkDatabase",
    "checkLog",
    "checkModel",
    "checkPassword",
    "checkPlugins",
    "checkRules",
    "checkServers",
    "checkTrust",
    "checkUnanswered",
];

fn lines(names: impl Iterator<Item = String>) -> String {
    names.map(|name| format!("  {name},\n")).collect()
}

/// The tables that are written so far. An object comes before those that refer to it.
#[derive(Default)]
struct Tables {
    text: String,
    written: Vec<&'static Object>,
    functions: Vec<&'static str>,
}

impl Tables {
    /// The expression of the table of an object: its name, or the table itself if the object has no name.
    fn name(&mut self, object: &'static Object) -> String {
        if object.name.is_empty() {
            return format!("{{\n{}  }}", self.rows(object, "    "));
        }
        let name = lower_first(object.name);
        if self.written.iter().all(|it| it.name != object.name) {
            let rows = self.rows(object, "  ");
            self.written.push(object);
            let _ = write!(
                self.text,
                "\nexport const {name}: Checks<{}> = {{\n{rows}}};\n",
                object.name
            );
        }
        name
    }

    fn rows(&mut self, object: &'static Object, indent: &str) -> String {
        let members = object.all_members().into_iter();
        members
            .map(|member| {
                format!(
                    "{indent}{}: {},\n",
                    key(member.name),
                    self.of_member(member)
                )
            })
            .collect()
    }

    fn of_member(&mut self, member: &'static Member) -> String {
        match &member.kind {
            Some(kind) => self.check(kind),
            None => self.call("checkAbsent"),
        }
    }

    /// The name of a function, which the file imports.
    fn call(&mut self, function: &'static str) -> String {
        self.functions.push(function);
        function.to_owned()
    }

    /// The check of a value of a kind.
    fn check(&mut self, kind: &'static Kind) -> String {
        match kind {
            Kind::Boolean => self.call("checkBoolean"),
            Kind::Text => self.call("checkText"),
            Kind::Number(number) => self.number(*number),
            Kind::List { of: Kind::Text, .. } => self.call("checkTexts"),
            Kind::Map { of: Kind::Text, .. } => self.call("checkTextsByName"),
            Kind::Map { of, .. } => {
                let each = self.check(of);
                format!("{}({each})", self.call("eachOf"))
            }
            Kind::Object(object) => self.members(object),
            Kind::Written(written) => match written.members {
                Some(object) => {
                    let table = self.name(object);
                    format!("{}({table})", self.call(written.check))
                }
                None => self.call(written.check),
            },
            Kind::Named(named) => self.check(&named.kind),
            Kind::Words(_) => self.words(&[kind]),
            Kind::OneOf(_) => self.one_of(&kind.alternatives()),
            Kind::Json | Kind::Unknown | Kind::Null | Kind::False => self.call("checkJson"),
            Kind::Prefixed(_) | Kind::List { .. } => self.call("checkJson"),
        }
    }

    fn members(&mut self, object: &'static Object) -> String {
        let table = self.name(object);
        let members = object.all_members().into_iter();
        let needed: Vec<_> = members
            .filter(|it| it.is_required)
            .map(|it| it.name)
            .collect();
        let function = self.call("membersOf");
        match needed.is_empty() {
            true => format!("{function}({table})"),
            false => format!("{function}({table}, {needed:?})"),
        }
    }

    fn number(&mut self, number: Number) -> String {
        let function = if number.is_whole {
            "wholeNumber"
        } else {
            "anyNumber"
        };
        let bounds = number.least.into_iter().chain(number.most);
        let bounds: Vec<_> = bounds.map(|bound| bound.to_string()).collect();
        format!("{}({})", self.call(function), bounds.join(", "))
    }

    fn words(&mut self, kinds: &[&'static Kind]) -> String {
        let words = kinds.iter().filter_map(|kind| match kind {
            Kind::Words(words) => Some(words.iter()),
            _ => None,
        });
        let words: Vec<_> = words.flatten().map(|word| format!("\"{word}\"")).collect();
        format!("{}({})", self.call("oneOf"), words.join(", "))
    }

    /// One of several kinds: words alone, or fixed values beside one other kind.
    fn one_of(&mut self, kinds: &[&'static Kind]) -> String {
        let is_fixed = |kind: &&Kind| matches!(kind, Kind::Words(_) | Kind::False);
        let Some(other) = kinds.iter().find(|kind| !is_fixed(kind)) else {
            return self.words(kinds);
        };
        let check = self.check(other);
        let fixed = kinds.iter().flat_map(|kind| match kind {
            Kind::Words(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
            Kind::False => vec!["false".to_owned()],
            _ => Vec::new(),
        });
        let fixed: Vec<_> = fixed.collect();
        let expected = match other {
            Kind::Object(_) => ", \"an object\"",
            _ => "",
        };
        format!(
            "{}([{}], {check}{expected})",
            self.call("valueOr"),
            fixed.join(", ")
        )
    }
}

/// `RetryPolicy` as the name of a constant: `retryPolicy`.
fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
