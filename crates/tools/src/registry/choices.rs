//! Tells a model which tools it may have meant.

/// Maximum number of similar names.
const MAX_SIMILAR: usize = 3;

/// Maximum number of names in the list of all tools.
const MAX_LISTED: usize = 40;

/// Returns a sentence with the tools that a call without a name can use.
pub(super) fn available(names: &[&str]) -> String {
    if names.is_empty() {
        return "No tools are available".to_owned();
    }
    let listed = &names[..names.len().min(MAX_LISTED)];
    let more = match names.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Available tools: {}{more}", listed.join(", "))
}

/// Returns the reason for a call with an unknown name, with the tools that have similar names. The request
/// of the model has all names, so the reason does not repeat them.
pub(super) fn unknown(name: &str, names: &[&str]) -> String {
    let similar = similar(name, names);
    match similar.is_empty() {
        true => format!("Unknown tool: {name}"),
        false => format!(
            "Unknown tool: {name}. Similar tools: {}",
            similar.join(", ")
        ),
    }
}

/// Returns the names that are most similar, the best first.
fn similar<'a>(unknown: &str, names: &[&'a str]) -> Vec<&'a str> {
    let unknown = letters(unknown);
    let rated = names.iter().filter_map(|name| {
        let distance = distance(&unknown, &letters(name))?;
        Some((distance, *name))
    });
    let mut rated: Vec<_> = rated.collect();
    rated.sort_by_key(|(distance, _)| *distance);
    let best = rated.into_iter().take(MAX_SIMILAR);
    best.map(|(_, name)| name).collect()
}

/// Returns the letters and digits of a name in lower case. Longer names than tools have are cut.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric).take(80);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns how different two names are, or `None` if they are not similar. A name within the other is similar.
fn distance(one: &str, other: &str) -> Option<usize> {
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    if short.is_empty() {
        return None;
    }
    let edits = strsim::osa_distance(short, long);
    let is_within = short.len() >= 3 && long.contains(short);
    (is_within || edits <= long.len() / 3).then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_come_first() {
        let names = ["bash", "edit", "glob", "read", "todo_write", "write"];
        let rows: [(&str, &[&str]); 9] = [
            ("raed", &["read"]),
            ("Read", &["read"]),
            ("read_file", &["read"]),
            ("functions.bash", &["bash"]),
            ("TodoWrite", &["todo_write", "write"]),
            ("wrte", &["write"]),
            ("weather", &[]),
            ("", &[]),
            ("\u{fc}", &[]),
        ];
        for (unknown, expected) in rows {
            assert_eq!(similar(unknown, &names), expected, "{unknown}");
        }
    }

    #[test]
    fn an_unknown_name_gets_similar_names_only() {
        let names = ["bash", "read"];
        assert_eq!(
            unknown("reed", &names),
            "Unknown tool: reed. Similar tools: read"
        );
        assert_eq!(unknown("teleport", &names), "Unknown tool: teleport");
    }

    #[test]
    fn the_list_is_bounded() {
        assert_eq!(available(&[]), "No tools are available");
        assert_eq!(available(&["read", "bash"]), "Available tools: read, bash");
        let names: Vec<String> = (0..50).map(|n| format!("tool{n:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(available(&names).ends_with("tool38, tool39 and 10 more"));
    }
}
