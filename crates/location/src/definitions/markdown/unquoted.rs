//! Texts of front matter that need quotes and have none.
//!
//! YAML gives a meaning to many characters that people write at the beginning of a text or within it. A field that is
//! not YAML but reads as a text is that text. Nothing is guessed about other values: a list or a quoted text without
//! its end stays an error.

use std::borrow::Cow;

use serde_json::Value;

/// Quotes the texts of the fields that are not valid alone. Fields that are valid stay as they are.
pub(super) fn quote(front: &str, is_valid: &dyn Fn(&str) -> bool) -> String {
    let mut repaired = String::new();
    for entry in entries(front) {
        if is_valid(entry) {
            repaired += entry;
        } else {
            repaired += &quoted(entry, is_valid);
        }
    }
    repaired
}

/// Splits front matter before each line that begins with the name of a field.
fn entries(front: &str) -> impl Iterator<Item = &str> {
    let mut rest = front;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            if length > 0 && field(line).is_some() {
                break;
            }
            length += line.len();
        }
        let (entry, later) = rest.split_at(length);
        rest = later;
        Some(entry)
    })
}

/// Returns the name and the value of a field at the beginning of a line.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_word = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_word);
    let is_value = value.is_empty() || value.starts_with(char::is_whitespace);
    (is_name && is_value).then_some((name, value.trim()))
}

fn quoted<'e>(entry: &'e str, is_valid: &dyn Fn(&str) -> bool) -> Cow<'e, str> {
    let mut lines = entry.lines();
    let Some((name, value)) = lines.next().and_then(field) else {
        return entry.into();
    };
    let below: Vec<&str> = lines.collect();
    if value.is_empty() {
        let first = below.iter().find(|line| !line.trim().is_empty());
        let first = first.copied().unwrap_or_default().trim_start();
        if field(first).is_some() {
            return format!("{name}:\n{}", quoted_fields(&below, is_valid)).into();
        }
        if first.starts_with("- ") {
            let items = below.iter().map(|line| quoted_item(line, is_valid) + "\n");
            return format!("{name}:\n{}", items.collect::<String>()).into();
        }
        if !is_text(first.trim_end()) {
            return entry.into();
        }
    } else if !is_text(value) {
        return entry.into();
    }
    let text = folded(std::iter::once(value).chain(below));
    // A text of JSON is one of YAML, too.
    format!("{name}: {}\n", Value::from(text)).into()
}

/// Quotes the texts of the fields below a field.
fn quoted_fields(lines: &[&str], is_valid: &dyn Fn(&str) -> bool) -> String {
    let first = lines.iter().find(|line| !line.trim().is_empty());
    let first = first.copied().unwrap_or_default();
    let indentation = &first[..first.len() - first.trim_start().len()];
    let bare = |line: &&str| line.strip_prefix(indentation).unwrap_or(line).to_owned() + "\n";
    let fields: String = lines.iter().map(bare).collect();
    let quoted = quote(&fields, is_valid);
    let lines = quoted.lines().map(|line| format!("{indentation}{line}\n"));
    lines.collect()
}

/// Quotes the text of an item of a list, if it is one line.
fn quoted_item<'l>(line: &'l str, is_valid: &dyn Fn(&str) -> bool) -> Cow<'l, str> {
    let Some((indentation, item)) = line.split_once("- ") else {
        return line.into();
    };
    let text = item.trim();
    if !indentation.trim().is_empty() || is_valid(&format!("- {text}")) || !is_text(text) {
        return line.into();
    }
    format!("{indentation}- {}", Value::from(text)).into()
}

/// True if a value that is not YAML reads as a text, and not as a value of another kind with a mistake.
fn is_text(value: &str) -> bool {
    let mut characters = value.chars();
    let (first, second) = (characters.next(), characters.next());
    let is_more = |rest: &str| {
        let rest = rest.trim_start();
        !rest.is_empty() && !rest.starts_with('#')
    };
    match first {
        None => false,
        Some(quote @ ('"' | '\'')) => {
            let end = value[1..].find(quote);
            end.is_some_and(|end| is_more(&value[end + 2..]))
        }
        Some('[' | '{') => closed(value).is_some_and(|end| is_more(&value[end..])),
        // Numbers without a finite value.
        Some('.') if matches!(value.to_ascii_lowercase().as_str(), ".inf" | ".nan") => false,
        // A reference has only a name.
        Some('*') => value.contains(char::is_whitespace) || value[1..].contains('*'),
        Some('&') => !second.is_some_and(char::is_alphanumeric),
        Some('|' | '>') => value[1..]
            .trim_matches(['+', '-'])
            .contains(char::is_alphabetic),
        Some(_) => true,
    }
}

/// Returns the position behind the bracket that closes the first one.
fn closed(value: &str) -> Option<usize> {
    let mut depth = 0_usize;
    value.char_indices().find_map(|(at, character)| {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    })
}

/// Joins lines as YAML does it: an empty line is a line break.
fn folded<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut text = String::new();
    let mut is_broken = true;
    for line in lines.map(str::trim) {
        if line.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            is_broken = true;
            continue;
        }
        if !is_broken {
            text.push(' ');
        }
        text += line;
        is_broken = false;
    }
    text.truncate(text.trim_end().len());
    text
}
