//! Everything that is written from the declarations of the configuration and of the options: types, checks, the JSON Schema
//! of the configuration, and tables in documents.

mod checks;
mod json_schema;
mod tables;
mod typescript;

use opencode_declaration::configuration::{AGENT, DOCUMENT};
use opencode_declaration::options::{
    BEHAVIOUR, DEADLINES, FOLDERS, LIMITS, LISTEN_OPTIONS, MODEL, OPTIONS, PERMISSIONS, RETRY,
    SESSIONS,
};
use opencode_declaration::vocabulary::{Kind, Member, Named, Object, Written};

use crate::promise::Files;

/// A document with a generated table.
pub(crate) struct Page {
    /// Its path from the root of the repository.
    pub path: &'static str,
    /// The name of each table, and the table.
    pub tables: Vec<(&'static str, String)>,
}

/// The files of `src/host/generated`.
pub(crate) fn types() -> Files {
    let json = "import type { JsonValue } from \"../../index.js\";\n";
    let named = "import type { SessionBudget } from \"../../client/index.js\";\n\
         import type { Plugin, PtyEnvironmentHook } from \"../../index.js\";\n\
         import type {\n  CredentialStore,\n  LogEntry,\n  PublishedSession,\n  SharedSession,\n  TrustFunction,\n\
         } from \"../option-types.js\";\n\
         import type { McpConfig, OpenCodeConfig } from \"./config.js\";\n";
    vec![
        ("config.ts", typescript::emit(&[&DOCUMENT], json)),
        (
            "options.ts",
            typescript::emit(&[&OPTIONS, &LISTEN_OPTIONS], named),
        ),
        ("checks.ts", checks::emit(&[&OPTIONS, &LISTEN_OPTIONS])),
    ]
}

/// The JSON Schema of `opencode.json`.
pub(crate) fn schema() -> String {
    json_schema::emit(&DOCUMENT)
}

/// The documents with generated tables.
pub(crate) fn pages() -> Vec<Page> {
    let options = |object| tables::members(object, "option");
    let of = |object, name: &str| tables::members(object, &format!("member of `{name}`"));
    vec![
        Page {
            path: "docs/configuration.md",
            tables: vec![
                ("keys of a document", tables::keys(&DOCUMENT)),
                ("fields of an agent", tables::members(&AGENT, "field")),
            ],
        },
        Page {
            path: "docs/options.md",
            tables: vec![
                ("options about the model", options(&MODEL)),
                ("options about sessions", options(&SESSIONS)),
                ("options about folders", options(&FOLDERS)),
                ("options about behaviour", options(&BEHAVIOUR)),
                ("permissions", of(&PERMISSIONS, "permissions")),
                ("limits", of(&LIMITS, "limits")),
                ("retry", of(&RETRY, "retry")),
                ("deadlines", of(&DEADLINES, "deadlines")),
            ],
        },
        Page {
            path: "docs/serving.md",
            tables: vec![("options of listen", options(&LISTEN_OPTIONS))],
        },
    ]
}

impl Page {
    /// The text of the document with the current tables. Fails if a table has no place.
    pub(crate) fn fill(&self, mut text: String) -> Result<String, String> {
        for (name, table) in &self.tables {
            let (start, end) = (format!("<!-- generated: {name} -->\n"), "\n<!-- end -->");
            let from = text.find(&start).map(|at| at + start.len());
            let found = from.and_then(|from| Some((from, from + text[from..].find(end)?)));
            let Some((from, to)) = found else {
                return Err(format!("{} has no place for the table: {name}", self.path));
            };
            text.replace_range(from..to, &format!("\n{table}"));
        }
        Ok(text)
    }
}

/// A named type of the declaration.
#[derive(Clone, Copy)]
enum Definition {
    Object(&'static Object),
    Named(&'static Named),
}

impl Definition {
    fn name(self) -> &'static str {
        match self {
            Self::Object(object) => object.name,
            Self::Named(named) => named.name,
        }
    }
}

/// The named types that an object needs, itself first, each once.
fn definitions(roots: &[&'static Object]) -> Vec<Definition> {
    let mut found = Vec::new();
    for root in roots {
        visit_object(root, &mut found);
    }
    found
}

fn visit_object(object: &'static Object, found: &mut Vec<Definition>) {
    let is_declared = !object.name.is_empty() && !object.is_elsewhere;
    if is_declared && !add(Definition::Object(object), found) {
        return;
    }
    for member in object.members {
        if let Some(kind) = &member.kind {
            visit(kind, found);
        }
    }
    for extended in object.extends {
        visit_object(extended, found);
    }
    if let Some(others) = &object.others {
        visit(others, found);
    }
}

fn visit(kind: &'static Kind, found: &mut Vec<Definition>) {
    match kind {
        Kind::Object(object) => visit_object(object, found),
        Kind::List { of, .. } | Kind::Map { of, .. } => visit(of, found),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| visit(kind, found)),
        Kind::Named(named) if add(Definition::Named(named), found) => visit(&named.kind, found),
        Kind::Written(Written {
            members: Some(object),
            ..
        }) => visit_object(object, found),
        _ => {}
    }
}

/// Adds a type. False if it is known.
fn add(definition: Definition, found: &mut Vec<Definition>) -> bool {
    let is_new = found.iter().all(|it| it.name() != definition.name());
    if is_new {
        found.push(definition);
    }
    is_new
}

/// The meaning of a member with its bounds and its default.
fn described(member: &Member) -> String {
    let mut sentences = vec![member.sentence(), bounds(member)];
    let default = member.default.to_string();
    if !default.is_empty() {
        sentences.push(format!("Default: {default}."));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}

/// The bounds of a member as a sentence.
fn bounds(member: &Member) -> String {
    match &member.kind {
        Some(Kind::Number(number)) => number.sentence(),
        Some(Kind::List {
            most: Some(most), ..
        }) => format!("At most {}.", grouped(*most)),
        Some(Kind::Map {
            most: Some(most), ..
        }) => format!("At most {}.", grouped(*most)),
        _ => String::new(),
    }
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_text_between_its_comments() {
        let page = Page {
            path: "a.md",
            tables: vec![("one", "| a |\n".to_owned())],
        };
        let text = "x\n<!-- generated: one -->\n\nold\n\n<!-- end -->\ny\n".to_owned();
        let filled = page.fill(text).unwrap();
        assert_eq!(
            filled,
            "x\n<!-- generated: one -->\n\n| a |\n\n<!-- end -->\ny\n"
        );
        assert_eq!(page.fill(filled.clone()), Ok(filled));
        let missing = page.fill("x\n".to_owned());
        assert_eq!(
            missing,
            Err("a.md has no place for the table: one".to_owned())
        );
    }

    #[test]
    fn every_description_is_a_sentence() {
        for definition in definitions(&[&DOCUMENT, &OPTIONS, &LISTEN_OPTIONS]) {
            let (doc, members): (_, &[Member]) = match definition {
                Definition::Object(object) => (object.doc, object.members),
                Definition::Named(named) => (named.doc, &[]),
            };
            assert!(doc.ends_with('.'), "{}", definition.name());
            for member in members {
                let sentence = member.sentence();
                let is_foreign = definition.name() == "ForeignConfig";
                assert!(
                    is_foreign || sentence.ends_with('.'),
                    "{}.{}",
                    definition.name(),
                    member.name
                );
            }
        }
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            ["100", "1,000", "1,234,005"],
            [100, 1_000, 1_234_005].map(grouped)[..]
        );
    }
}
