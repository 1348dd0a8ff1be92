//! Numbers of events, messages and parts are declared once. SQL gets them from the declaration.

use std::fs;
use std::path::Path;

/// Columns with such a number.
const COLUMNS: [&str; 2] = ["type", "kind"];

/// Operators of comparisons, the longer ones first.
const OPERATORS: [&str; 12] = [
    "not in", "in", "is not", "is", "<>", "!=", "<=", ">=", "==", "<", ">", "=",
];

/// Returns the text from each comparison of such a column with a literal number.
fn literals(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    for column in COLUMNS {
        for (at, _) in text.match_indices(column) {
            let rest = &text[at + column.len()..];
            if text[..at].ends_with(is_word) || rest.starts_with(is_word) {
                continue;
            }
            let rest = rest.trim_start().to_lowercase();
            let operand = OPERATORS
                .iter()
                .find_map(|operator| rest.strip_prefix(operator));
            let operand = operand.map(|it| it.trim_start_matches([' ', '(', '-']));
            if operand.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
                found.push(text[at..].chars().take(40).collect());
            }
        }
    }
    found
}

/// Checks every source file below a folder, except those of tests.
fn check(folder: &Path) -> usize {
    let mut checked = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("src/tests") {
            checked += check(&path);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(literals(&text), Vec::<String>::new(), "{}", path.display());
            checked += 1;
        }
    }
    checked
}

#[test]
fn no_sql_repeats_a_number_that_is_declared() {
    for (text, is_found) in [
        ("WHERE e.type = 22", true),
        ("WHERE type IN (23, ?1)", true),
        ("AND e.type NOT\n  IN (1)", true),
        ("AND kind<>2", true),
        ("AND type = -1", true),
        ("AND type = ?3", false),
        ("AND type IN ({user}, {assistant})", false),
        ("WHERE type = 'table'", false),
        ("WHERE archetype = 3", false),
    ] {
        assert_eq!(!literals(text).is_empty(), is_found, "{text}");
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(check(&sources) > 40);
}
