//! Names of a directory that resemble a name that does not exist.

use std::{fs, path::Path};

/// Maximum number of names that are compared.
const MAX_NAMES: usize = 10_000;

/// Maximum number of characters of a name that are compared.
const MAX_CHARACTERS: usize = 64;

/// Returns the names in a directory that resemble `name`, the most similar first.
#[must_use]
pub fn similar_names(directory: &Path, name: &str) -> Vec<String> {
    let wanted = letters(name);
    let children = fs::read_dir(directory).into_iter().flatten();
    let mut similar: Vec<(usize, String)> = children
        .take(MAX_NAMES)
        .flatten()
        .filter_map(|child| {
            let child = child.file_name().into_string().ok()?;
            Some((difference(&wanted, &letters(&child))?, child))
        })
        .collect();
    similar.sort();
    similar.into_iter().map(|(_, name)| name).collect()
}

fn letters(name: &str) -> Vec<char> {
    name.to_lowercase().chars().take(MAX_CHARACTERS).collect()
}

/// Returns how much two names differ, or `None` if they are not similar: more than a third of the characters would have
/// to change, unless the names differ only in what follows their last dot.
fn difference(one: &[char], other: &[char]) -> Option<usize> {
    let stem = |name: &[char]| {
        let dot = name.iter().rposition(|character| *character == '.');
        name[..dot.filter(|dot| *dot > 0).unwrap_or(name.len())].to_vec()
    };
    let most = one.len().max(other.len()) / 3;
    if one.len().abs_diff(other.len()) <= most {
        let changes = changes(one, other);
        if changes <= most {
            return Some(changes);
        }
    }
    (stem(one) == stem(other)).then_some(most + 1)
}

/// Returns the number of characters to insert, remove or replace, and of neighbours to exchange.
fn changes(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (index, left) in one.iter().enumerate() {
        let mut row = vec![index + 1];
        for (column, right) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(left != right);
            let mut least = replaced.min(last[column + 1] + 1).min(row[column] + 1);
            let is_exchanged =
                index > 0 && column > 0 && *left == other[column - 1] && one[index - 1] == *right;
            if is_exchanged {
                least = least.min(before[column - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found_in_order() {
        let temp = tempfile::tempdir().unwrap();
        for name in [
            "README.md",
            "readme.txt",
            "main.rs",
            "mian.rs",
            "index.ts",
            "z",
        ] {
            fs::write(temp.path().join(name), "").unwrap();
        }
        for (name, expected) in [
            ("readme.md", &["README.md", "readme.txt"][..]),
            ("main.ts", &["main.rs", "mian.rs"]),
            ("maim.rs", &["main.rs", "mian.rs"]),
            ("mai.nrs", &["main.rs", "mian.rs"]),
            ("index.js", &["index.ts"]),
            ("index.d.ts", &["index.ts"]),
            ("y", &[]),
            ("something-else.md", &[]),
        ] {
            assert_eq!(similar_names(temp.path(), name), expected, "{name}");
        }
        assert_eq!(
            similar_names(&temp.path().join("none"), "a"),
            Vec::<String>::new()
        );
    }
}
