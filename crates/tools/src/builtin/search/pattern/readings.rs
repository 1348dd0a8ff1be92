//! The meanings that one pattern can have.

use super::MAX_PATTERNS;

/// Returns what a pattern can stand for: itself, and the members of a list, the text between quotes, the names with the
/// brackets that it contains, and the path with backslashes between names.
pub(super) fn readings(pattern: &str) -> Vec<String> {
    let mut readings = vec![pattern.to_owned()];
    let add = |readings: &mut Vec<String>, reading: String| {
        if !reading.is_empty() && readings.len() < MAX_PATTERNS && !readings.contains(&reading) {
            readings.push(reading);
        }
    };
    for quote in ['"', '\'', '`'] {
        let inner = pattern
            .strip_prefix(quote)
            .and_then(|inner| inner.strip_suffix(quote));
        if let Some(inner) = inner {
            add(&mut readings, inner.to_owned());
        }
    }
    for index in 0..readings.len() {
        for member in members(&readings[index]) {
            add(&mut readings, member);
        }
    }
    for index in 0..readings.len() {
        let reading = readings[index].clone();
        if reading.contains('[') && !reading.contains('\\') {
            let literal = reading.replace('[', "\\[").replace(']', "\\]");
            add(&mut readings, literal);
        }
        if reading.contains('\\') && !cfg!(windows) {
            add(&mut readings, separated(&reading));
        }
    }
    readings
}

/// Returns the members of a list such as `*.ts,*.tsx`, or nothing.
fn members(pattern: &str) -> Vec<String> {
    let by_comma = split(pattern, |character| character == ',');
    if by_comma.len() > 1 {
        return by_comma;
    }
    let divides = |character: char| character.is_whitespace() || [';', '|'].contains(&character);
    let others = split(pattern, divides);
    // A name can contain spaces.
    let is_list = others.len() > 1 && others.iter().all(|member| member.contains('*'));
    if is_list { others } else { Vec::new() }
}

/// Splits a pattern at characters outside of braces and brackets.
fn split(pattern: &str, divides: impl Fn(char) -> bool) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut braces, mut in_class, mut is_escaped) = (0_usize, false, false);
    for character in pattern.chars() {
        let is_plain = !std::mem::replace(&mut is_escaped, false);
        match character {
            '\\' if is_plain => is_escaped = true,
            '[' if is_plain => in_class = true,
            ']' if is_plain => in_class = false,
            '{' if is_plain && !in_class => braces += 1,
            '}' if is_plain && !in_class => braces = braces.saturating_sub(1),
            divider if braces == 0 && !in_class && is_plain && divides(divider) => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(character);
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns the pattern with `/` in place of the backslashes that divide names. Before a letter or a digit a backslash
/// has no other meaning; in a pattern without a slash none has.
fn separated(pattern: &str) -> String {
    if !pattern.contains('/') {
        return pattern.replace('\\', "/");
    }
    let mut text = String::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_name = characters.peek().is_some_and(|next| next.is_alphanumeric());
        text.push(if character == '\\' && next_is_name {
            '/'
        } else {
            character
        });
    }
    text
}

/// Expands the braces of a pattern. Returns the pattern itself if they are not complete or stand for too much.
pub(super) fn expanded(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(one) = open.pop() {
        let Some((start, end)) = braces(&one) else {
            done.push(one);
            continue;
        };
        let (before, after) = (&one[..start], &one[end + 1..]);
        let mut choices = alternatives(&one[start + 1..end]);
        // The choices are counted before they are written, because each has the length of the whole pattern.
        if open.len() + done.len() + choices.len() > MAX_PATTERNS {
            return vec![pattern.to_owned()];
        }
        // A choice without a slash is not a name at any depth if another one is a path.
        choices.reverse();
        open.extend(
            choices
                .iter()
                .map(|choice| format!("{before}{choice}{after}")),
        );
    }
    let is_path = pattern.trim_end_matches('/').contains('/');
    for one in &mut done {
        if is_path && !one.trim_end_matches('/').contains('/') {
            one.insert(0, '/');
        }
    }
    done
}

/// Returns the positions of the first complete pair of braces.
fn braces(pattern: &str) -> Option<(usize, usize)> {
    let (mut start, mut depth, mut in_class, mut is_escaped) = (None, 0_usize, false, false);
    for (at, character) in pattern.char_indices() {
        if std::mem::replace(&mut is_escaped, false) {
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class => {
                start = start.or(Some(at));
                depth += 1;
            }
            '}' if !in_class && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some((start?, at));
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits the text between braces at its own commas.
fn alternatives(inner: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut is_escaped = false;
    for character in inner.chars() {
        match character {
            _ if std::mem::replace(&mut is_escaped, false) => {}
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(character);
    }
    parts.push(part);
    parts
}
