//! Other spellings of a path: models and users write paths in the forms of shells, browsers and editors.

use std::path::Path;

use percent_encoding::percent_decode_str;

/// Maximum number of spellings of one path.
const MAX_SPELLINGS: usize = 64;

/// One form, and the path that it means. `None` if the text does not have the form.
type Form = fn(&str, &Path) -> Option<String>;

/// Forms that a path to a new file can have, too: no user means a file with such a name.
const FORMS: &[Form] = &[trimmed, unquoted, of_url, of_home];

/// Forms that only an existing file explains.
const GUESSED_FORMS: &[Form] = &[
    mentioned,
    unescaped,
    separated,
    decoded,
    without_line,
    unquoted,
];

/// Returns what else a text can mean that names a file that exists, the likeliest first.
pub(super) fn spellings(input: &str, home: &Path) -> Vec<String> {
    with_forms(input, home, &[FORMS, GUESSED_FORMS].concat())
}

/// Returns what a text means that names no file.
pub(super) fn certain(input: &str, home: &Path) -> Option<String> {
    let mut spelling = None;
    for form in FORMS {
        let text = spelling.as_deref().unwrap_or(input);
        spelling = form(text, home).or(spelling);
    }
    spelling
}

fn with_forms(input: &str, home: &Path, forms: &[Form]) -> Vec<String> {
    let mut spellings = vec![input.to_owned()];
    for form in forms {
        for index in 0..spellings.len() {
            let Some(spelling) = form(&spellings[index], home) else {
                continue;
            };
            if spellings.len() < MAX_SPELLINGS && !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        }
    }
    spellings.remove(0);
    spellings.retain(|spelling| !spelling.is_empty());
    spellings
}

fn changed(from: &str, to: impl Into<String>) -> Option<String> {
    Some(to.into()).filter(|to| to != from && !to.is_empty())
}

fn trimmed(text: &str, _: &Path) -> Option<String> {
    changed(
        text,
        text.trim_matches(|end: char| end.is_whitespace() || end.is_control()),
    )
}

/// `"a"`, `'a'`, `` `a` ``, `<a>`
fn unquoted(text: &str, _: &Path) -> Option<String> {
    let pairs = [
        ('"', '"'),
        ('\'', '\''),
        ('`', '`'),
        ('<', '>'),
        ('\u{201c}', '\u{201d}'),
        ('\u{2018}', '\u{2019}'),
    ];
    let inner = pairs.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        Some(inner.trim())
    });
    inner.and_then(|inner| changed(text, inner))
}

/// `file:///a/b%20c`
fn of_url(text: &str, _: &Path) -> Option<String> {
    let (scheme, rest) = text.split_at_checked("file:".len())?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = path
        .strip_prefix("localhost")
        .filter(|path| path.starts_with('/'))
        .unwrap_or(path);
    // The path of a drive follows a slash.
    let drive = path.strip_prefix('/').filter(|_| cfg!(windows));
    let decoded = percent_decode_str(drive.unwrap_or(path))
        .decode_utf8()
        .ok()?;
    changed(text, decoded)
}

/// `~`, `~/a`, `$HOME/a`
fn of_home(text: &str, home: &Path) -> Option<String> {
    let below = ["~", "$HOME", "${HOME}"];
    let below = below.iter().find_map(|name| text.strip_prefix(name))?;
    if !below.is_empty() && !below.starts_with(std::path::is_separator) {
        return None;
    }
    let below = below.trim_start_matches(std::path::is_separator);
    home.join(below)
        .to_str()
        .filter(|_| home.is_absolute())
        .map(str::to_owned)
}

/// `@a`, as users mention files in prompts.
fn mentioned(text: &str, _: &Path) -> Option<String> {
    changed(text, text.strip_prefix('@')?)
}

/// `a\ b`, as a shell needs it.
fn unescaped(text: &str, _: &Path) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes = |next: &char| !next.is_alphanumeric();
        match characters.next_if(|next| character == '\\' && escapes(next)) {
            Some(escaped) => plain.push(escaped),
            None => plain.push(character),
        }
    }
    changed(text, plain)
}

/// `a\b`, as on Windows.
fn separated(text: &str, _: &Path) -> Option<String> {
    changed(text, text.replace('\\', "/"))
}

/// `a%20b`
fn decoded(text: &str, _: &Path) -> Option<String> {
    changed(text, percent_decode_str(text).decode_utf8().ok()?)
}

/// `a:12`, `a:12:5`, `a:10-20`, `a#L12`, `a#L10-L20`
fn without_line(text: &str, _: &Path) -> Option<String> {
    let end = text.trim_end_matches(|end: char| {
        end.is_ascii_digit() || [':', '-', '#', 'L', ','].contains(&end)
    });
    let suffix = &text[end.len()..];
    let start = suffix.find([':', '#'])?;
    let has_line = suffix[start..].contains(|digit: char| digit.is_ascii_digit());
    let path = &text[..end.len() + start];
    Some(path)
        .filter(|_| has_line)
        .and_then(|path| changed(text, path))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_meaning() {
        let home = Path::new("/home/u");
        for (text, meant) in [
            ("a.md\n", "a.md"),
            (" a.md ", "a.md"),
            ("\"a b.md\"", "a b.md"),
            ("`a.md`", "a.md"),
            ("<a.md>", "a.md"),
            ("@a.md", "a.md"),
            ("@\"a b.md\"", "a b.md"),
            ("file:///p/a%20b.md", "/p/a b.md"),
            ("file://localhost/p/a.md", "/p/a.md"),
            ("FILE:///p/caf%C3%A9", "/p/caf\u{e9}"),
            ("file:a.md", "a.md"),
            ("@file:///p/a.md", "file:///p/a.md"),
            ("~/p/a.md", "/home/u/p/a.md"),
            ("~", "/home/u/"),
            ("$HOME/a", "/home/u/a"),
            ("${HOME}/a", "/home/u/a"),
            ("`~/a`", "/home/u/a"),
            ("a\\ b.md", "a b.md"),
            ("a\\(1\\).md", "a(1).md"),
            ("src\\a.md", "src/a.md"),
            ("a%20b.md", "a b.md"),
            ("a.md:12", "a.md"),
            ("a.md:12:5", "a.md"),
            ("a.md:10-20", "a.md"),
            ("a.md#L12", "a.md"),
            ("a.md#L10-L20", "a.md"),
            ("`a.md:12`\n", "a.md"),
        ] {
            let spellings = spellings(text, home);
            assert!(
                spellings.iter().any(|it| it == meant),
                "{text:?}: {spellings:?}"
            );
        }
    }

    #[test]
    fn a_plain_path_has_one_spelling() {
        for text in [
            "a.md",
            "/p/a b.md",
            "a~",
            "~u/a",
            "a:b",
            "a#b",
            "L",
            "v1.2-3",
            "$HOMEa",
            "100%",
            "-",
            "",
        ] {
            assert_eq!(
                spellings(text, Path::new("/home/u")),
                Vec::<String>::new(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn only_some_forms_are_certain_for_a_new_file() {
        for (text, meant) in [
            ("a.md\n", Some("a.md")),
            ("\"~/a\"", Some("/home/u/a")),
            ("file:///p/a", Some("/p/a")),
            ("@types/a.ts", None),
            ("a\\b", None),
            ("a:1", None),
            ("a%20b", None),
        ] {
            assert_eq!(
                certain(text, Path::new("/home/u")).as_deref(),
                meant,
                "{text:?}"
            );
        }
    }
}
