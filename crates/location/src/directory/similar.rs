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

fn letters(name: &str) -> String {
    name.to_lowercase().chars().take(MAX_CHARACTERS).collect()
}

/// Returns how much two names differ, or `None` if they are not similar: more than a third of the characters would have
/// to change, unless the names differ only in what follows their last dot.
fn difference(one: &str, other: &str) -> Option<usize> {
    fn stem(name: &str) -> &str {
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            _ => name,
        }
    }
    let most = one.chars().count().max(other.chars().count()) / 3;
    let changes = strsim::osa_distance(one, other);
    if changes <= most {
        return Some(changes);
    }
    (stem(one) == stem(other)).then_some(most + 1)
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
