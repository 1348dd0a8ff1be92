//! Tables in documents.

use opencode_declaration::vocabulary::{Kind, Member, Object};

use super::bounds;
use crate::reference::text::{cell, row, table};

/// The keys of a document. An object without other names has a row for each of its members.
pub(super) fn keys(document: &'static Object) -> String {
    let mut older = Vec::new();
    add_older(document, "", &mut older);
    let mut rows = Vec::new();
    add_rows(document.members, "", &older, &mut rows);
    table(&["key", "older", "default", "meaning"], rows.into_iter())
}

/// Adds the path of each older name and of its newer one.
fn add_older(object: &'static Object, place: &str, older: &mut Vec<(String, String)>) {
    for member in object.all_members() {
        let path = format!("{place}{}", member.name);
        if let Some(names) = member.older {
            older.push((path, format!("{place}{}", names.newer())));
        } else if let Some(object) = member.kind.as_ref().and_then(Kind::object) {
            add_older(object, &format!("{path}."), older);
        }
    }
}

fn add_rows(
    members: &'static [Member],
    place: &str,
    older: &[(String, String)],
    rows: &mut Vec<String>,
) {
    for member in members.iter().filter(|it| it.older.is_none()) {
        let path = format!("{place}{}", member.name);
        if let Some(object) = member.kind.as_ref().and_then(Kind::object) {
            add_rows(object.members, &format!("{path}."), older, rows);
            continue;
        }
        let is_newer = |newer: &str| {
            let inner = path.strip_prefix(newer);
            inner.is_some_and(|inner| inner.is_empty() || inner.starts_with('.'))
        };
        let names = older.iter().filter(|(_, newer)| is_newer(newer));
        let names: Vec<_> = names.map(|(name, _)| format!("`{name}`")).collect();
        let default = cell(&member.default.to_string());
        rows.push(row(&[
            format!("`{path}`"),
            names.join(", "),
            default,
            cell(&meaning(member)),
        ]));
    }
}

/// The members of an object.
pub(super) fn members(object: &'static Object, column: &str) -> String {
    let rows = object.members.iter().map(|member| {
        let default = member.default.to_string();
        row(&[
            format!("`{}`", member.name),
            cell(&default),
            cell(&meaning(member)),
        ])
    });
    table(&[column, "default", "meaning"], rows)
}

/// The meaning of a member, the values that its meaning does not name, and the page with more about it.
fn meaning(member: &'static Member) -> String {
    let mut sentences = vec![member.sentence(), bounds(member)];
    let kinds = member.kind.iter().flat_map(Kind::alternatives);
    let words = kinds.filter_map(|kind| match kind {
        Kind::Words(words) => Some(words.iter()),
        _ => None,
    });
    let words: Vec<_> = words
        .flatten()
        .map(|word| format!("`\"{word}\"`"))
        .collect();
    if words.iter().any(|word| !member.doc.contains(word)) {
        sentences.push(format!("Words: {}.", words.join(", ")));
    }
    if let Some((title, address)) = member.page {
        sentences.push(format!("See [{title}]({address})."));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}
