//! Finds the place of a file that is most similar to lines that were not found. Pure.

use std::collections::HashMap;

/// Maximum number of characters of a line that are shown.
const CHARACTERS: usize = 200;

/// Maximum number of equal lines that are compared with each line of a file.
const MAX_EQUAL: usize = 8;

/// The sentence instead of those about a place, for a file that may not be shown.
pub(crate) const HIDDEN: &str = " Similar places are not shown, because the permission rules do not let this file be read without a question.";

/// Returns sentences that begin with a space, about the first difference from the most similar place. Empty if no
/// place is similar.
pub(crate) fn to(file: &str, wanted: &str) -> String {
    let file: Vec<&str> = file.lines().collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let Some(offset) = best_offset(&file, &wanted) else {
        return String::new();
    };
    let mut differences = wanted.iter().enumerate().filter_map(|(index, line)| {
        let number = index.checked_add_signed(offset)?;
        let there = file.get(number)?;
        // The first and the last line may be parts of a line.
        let is_edge = index == 0 || index + 1 == wanted.len();
        let is_equal = there == line || (is_edge && there.contains(line));
        (!is_equal).then_some((number + 1, *there, *line))
    });
    let Some((number, there, line)) = differences.next() else {
        return " The file has these lines, but not in this order or without others between them."
            .to_owned();
    };
    let whitespace = if without_space(there) == without_space(line) {
        " Only the whitespace differs."
    } else {
        ""
    };
    format!(
        " The most similar place differs in line {number}: the file has {}, not {}.{whitespace}",
        quoted(there),
        quoted(line)
    )
}

/// Returns the difference of line numbers at which most lines are equal apart from whitespace.
fn best_offset(file: &[&str], wanted: &[&str]) -> Option<isize> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        let line = without_space(line);
        // Short lines, such as a brace, are everywhere.
        if line.chars().count() > 2 {
            places.entry(line).or_default().push(index);
        }
    }
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for (number, line) in file.iter().enumerate() {
        let equal = places.get(&without_space(line));
        for index in equal.into_iter().flatten().take(MAX_EQUAL) {
            *votes.entry(number as isize - *index as isize).or_default() += 1;
        }
    }
    let best = votes
        .into_iter()
        .max_by_key(|(offset, count)| (*count, -offset));
    best.map(|(offset, _)| offset)
}

/// Returns a line without whitespace and without the number that some outputs put before it.
fn without_space(line: &str) -> String {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let numbered = (digits.len() < line.len())
        .then(|| digits.strip_prefix([':', '|', '\t']))
        .flatten();
    let line = numbered.unwrap_or(line);
    line.chars()
        .filter(|character| !character.is_whitespace())
        .collect()
}

/// Returns a line in quotation marks, with escapes for whitespace that is not visible.
fn quoted(line: &str) -> String {
    let shown: String = line.chars().take(CHARACTERS).collect();
    let more = if shown.len() < line.len() { "..." } else { "" };
    format!("{shown:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_of_the_most_similar_place_is_told() {
        let file = "fn a() {\n\treturn 1;\n}\nfn b() {\n\treturn 2;\n}\n";
        for (wanted, expected) in [
            (
                "fn b() {\n    return 2;\n}",
                " The most similar place differs in line 5: the file has \"\\treturn 2;\", not \"    return 2;\". Only \
                 the whitespace differs.",
            ),
            (
                "fn b() {\n\treturn 3;\n}",
                " The most similar place differs in line 5: the file has \"\\treturn 2;\", not \"\\treturn 3;\".",
            ),
            (
                "4: fn b() {\n5: \treturn 2;",
                " The most similar place differs in line 4: the file has \"fn b() {\", not \"4: fn b() {\". Only the \
                 whitespace differs.",
            ),
            ("nothing of this", ""),
            ("}", ""),
            ("", ""),
        ] {
            assert_eq!(to(file, wanted), expected, "{wanted:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut() {
        let line = "x".repeat(500);
        let told = to(&format!("{line} \n"), &format!(" {line}"));
        assert!(told.len() < 600, "{told}");
    }
}
