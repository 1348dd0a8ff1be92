//! Reads one value of a git configuration file: the URL of remote `origin`.
//!
//! The file is read here without git. Starting a process for every opened directory takes longer than
//! everything else. Also, only the repository's own files count for its identity: includes and rewrites
//! of the user's configuration must not change it.

/// Returns the first non-empty `url` of section `[remote "origin"]`.
///
/// The file may be malformed: invalid lines are skipped.
pub(super) fn origin_url(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut in_origin = false;
    while !rest.is_empty() {
        rest = rest.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let (section, after) = section(header);
            in_origin = section.is_some_and(|section| section.is_origin());
            rest = after;
            continue;
        }
        let (name, value, after) = entry(rest);
        rest = after;
        if in_origin && name.eq_ignore_ascii_case("url") && !value.is_empty() {
            return Some(value);
        }
    }
    None
}

struct Section<'a> {
    name: &'a str,
    subsection: Option<String>,
}

impl Section<'_> {
    /// Section names ignore case, quoted subsections do not. The old form `[remote.origin]` ignores case in both parts.
    fn is_origin(&self) -> bool {
        match &self.subsection {
            Some(subsection) => self.name.eq_ignore_ascii_case("remote") && subsection == "origin",
            None => self.name.eq_ignore_ascii_case("remote.origin"),
        }
    }
}

/// Reads a section header after its `[`. If it is malformed, returns `None` and skips the rest of its line.
fn section(text: &str) -> (Option<Section<'_>>, &str) {
    let malformed = || (None, split_line(text).1);
    let Some(end) = text.find(['"', ']', '\n']) else {
        return malformed();
    };
    let name = text[..end].trim_end();
    let rest = &text[end + 1..];
    match text.as_bytes()[end] {
        b']' => {
            let subsection = None;
            (Some(Section { name, subsection }), rest)
        }
        b'"' => match subsection(rest) {
            Some((subsection, after)) => {
                let subsection = Some(subsection);
                (Some(Section { name, subsection }), after)
            }
            None => malformed(),
        },
        _ => (None, rest),
    }
}

/// Reads the name of a subsection after its first quote, up to the end of the header.
fn subsection(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '\n' => return None,
            '\\' => name.push(characters.next().filter(|escaped| *escaped != '\n')?),
            '"' => return Some((name, characters.as_str().strip_prefix(']')?)),
            other => name.push(other),
        }
    }
}

/// Reads `name = value` at the start of `text`. Also returns the rest of the text. A line without `=`
/// has an empty value. A comment becomes an entry with a name that is never requested.
fn entry(text: &str) -> (&str, String, &str) {
    let (line, next) = split_line(text);
    let Some((name, _)) = line.split_once('=') else {
        return (line.trim(), String::new(), next);
    };
    if name.starts_with(['#', ';']) {
        return ("", String::new(), next);
    }
    let (value, after) = value(&text[name.len() + 1..]);
    (name.trim(), value, after)
}

/// Reads a value. Quotes preserve blanks and comment characters. A backslash escapes characters,
/// including the line end.
fn value(text: &str) -> (String, &str) {
    let mut value = String::new();
    // Length of the value up to its last character that is not a trailing blank.
    let mut kept = 0;
    let mut quoted = false;
    let mut comment = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' => {
                value.truncate(kept);
                return (value, &text[at + 1..]);
            }
            _ if comment => {}
            '#' | ';' if !quoted => comment = true,
            '"' => quoted = !quoted,
            '\\' => {
                match characters.next().map(|(_, escaped)| escaped) {
                    Some('n') => value.push('\n'),
                    Some('t') => value.push('\t'),
                    Some('b') => value.push('\u{8}'),
                    Some('\r') => continue_line(&mut characters),
                    Some('\n') | None => {}
                    Some(other) => value.push(other),
                }
                kept = value.len();
            }
            blank if blank.is_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(blank);
                }
            }
            other => {
                value.push(other);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (value, "")
}

/// Skips the `\n` of an escaped `\r\n`.
fn continue_line(characters: &mut std::str::CharIndices<'_>) {
    if characters.as_str().starts_with('\n') {
        characters.next();
    }
}

/// The first line without its end, and the rest of the text.
fn split_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_origin_is_found() {
        for (text, url) in [
            ("[remote \"origin\"]\n\turl = a:b\n", "a:b"),
            ("[remote \"origin\"]\r\n\turl = a:b\r\n", "a:b"),
            ("[REMOTE \"origin\"]\nURL=a:b", "a:b"),
            ("[remote \"origin\"] url = a:b", "a:b"),
            ("[remote.origin]\nurl = a:b", "a:b"),
            ("[remote.ORIGIN]\nurl = a:b", "a:b"),
            ("[remote \"or\\igin\"]\nurl = a:b", "a:b"),
            ("\u{feff}[remote \"origin\"]\nurl = a:b", "a:b"),
            ("[remote \"origin\"]\nurl = \"a # b\" # c", "a # b"),
            ("[remote \"origin\"]\nurl = a:b ; c\n", "a:b"),
            ("[remote \"origin\"]\nurl = a\\\nb\n", "ab"),
            ("[remote \"origin\"]\nurl = a\\\\b\\\"c\\td", "a\\b\"c\td"),
            (
                "[remote \"origin\"]\nfetch = +x\n# url = c\nurl =\nurl = a:b\nurl = c:d",
                "a:b",
            ),
            (
                "[core]\n\tbare = false\n[remote \"up\"]\nurl = x:y\n[remote \"origin\"]\nurl = a:b",
                "a:b",
            ),
            ("[remote \"origin\"]\npush\nurl = a:b", "a:b"),
            ("[bad\n[remote \"origin\"]\nurl = a:b", "a:b"),
        ] {
            assert_eq!(origin_url(text).as_deref(), Some(url), "{text:?}");
        }
    }

    #[test]
    fn other_texts_have_no_remote() {
        for text in [
            "",
            "[",
            "[]",
            "=",
            "\\",
            "url = a:b",
            "[remote]\nurl = a:b",
            "[remote \"Origin\"]\nurl = a:b",
            "[remote \"origin\" ]\nurl = a:b",
            "[remote \"origin",
            "[remote \"origin\\",
            "[remote \"ori\ngin\"]\nurl = a:b",
            "[remote \"origin\"]\nurl",
            "[remote \"origin\"]\nurl =",
            "[remote \"origin\"]\nurl = \"",
            "[remote \"origin\"]\n[core]\nurl = a:b",
            "[remote \"origin\"]\n; url = a:b\n",
            "[remote \"origin\"]\npushurl = a:b",
        ] {
            assert_eq!(origin_url(text), None, "{text:?}");
        }
    }

    #[test]
    fn hostile_files_take_linear_time() {
        let text = "\u{feff}[remote \"ori\\gin\"] # ü\r\n\turl = \"a\\\"\\\nb\" ; c\n[x.y]=\\\n\\";
        for (start, _) in text.char_indices() {
            for (end, _) in text[start..].char_indices() {
                let part = &text[start..start + end];
                if let Some(url) = origin_url(part) {
                    assert!(part.contains("url") && url.len() < part.len(), "{part:?}");
                }
            }
        }
    }

    #[test]
    fn a_long_line_of_headers_takes_linear_time() {
        assert_eq!(origin_url(&"[]".repeat(500_000)), None);
    }
}
