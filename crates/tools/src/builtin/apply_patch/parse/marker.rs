//! The lines of a patch that are not content.

/// A line that begins with asterisks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Marker<'a> {
    Begin,
    End,
    EndOfFile,
    /// The path is as written.
    File(Kind, &'a str),
    Move(&'a str),
    /// Another line that begins like a marker.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Add,
    Delete,
    Update,
}

/// Returns the marker of a line without indentation.
pub(super) fn marker(line: &str) -> Option<Marker<'_>> {
    let rest = line.strip_prefix("***")?;
    let text = rest.trim();
    let is = |name: &str| text.trim_end_matches(['*', ' ']).eq_ignore_ascii_case(name);
    if is("Begin Patch") {
        return Some(Marker::Begin);
    }
    if is("End Patch") {
        return Some(Marker::End);
    }
    if is("End of File") || is("EOF") {
        return Some(Marker::EndOfFile);
    }
    for (names, kind) in [
        (["Add File", "Create File", "New File"], Kind::Add),
        (["Delete File", "Remove File", "Delete File"], Kind::Delete),
        (["Update File", "Modify File", "Edit File"], Kind::Update),
    ] {
        for name in names {
            if let Some(path) = after(text, name) {
                return Some(Marker::File(kind, path));
            }
        }
    }
    if let Some(path) = after(text, "Move to").or_else(|| after(text, "Move File to")) {
        return Some(Marker::Move(path));
    }
    rest.starts_with(' ').then_some(Marker::Unknown)
}

/// Returns the text after a name and its colon.
fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    let path = rest.trim_start().strip_prefix(':');
    path.or_else(|| rest.starts_with(' ').then_some(rest))
}

/// Returns a path without the characters that surround it.
pub(super) fn clean(path: &str) -> &str {
    let path = path.trim();
    let path = path.strip_suffix("***").unwrap_or(path).trim_end();
    for mark in ['"', '\'', '`'] {
        let inner = path
            .strip_prefix(mark)
            .and_then(|path| path.strip_suffix(mark));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            return inner.trim();
        }
    }
    path
}

/// The place of a chunk, as the line that begins it tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Start<'a> {
    /// A line that stands before the chunk.
    pub(super) context: Option<&'a str>,
    pub(super) numbers: Option<Numbers>,
}

/// The line numbers of a chunk in a unified diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Numbers {
    /// The first line in the old file, counted from 1.
    pub(in super::super) line: usize,
    /// Number of lines in the old file.
    pub(in super::super) count: usize,
}

/// Parses a line that begins a chunk.
pub(super) fn start(line: &str) -> Option<Start<'_>> {
    let text = line.strip_prefix("@@")?;
    if let Some((numbers, heading)) = numbers(text.trim_start_matches('@')) {
        return Some(Start {
            context: Some(heading).filter(|heading| !heading.is_empty()),
            numbers: Some(numbers),
        });
    }
    let text = text.strip_prefix(' ').unwrap_or(text).trim_end();
    let context = text.strip_suffix("@@").unwrap_or(text).trim_end();
    let is_place = !matches!(context.trim(), "" | "..." | "\u{2026}" | "@");
    Some(Start {
        context: is_place.then_some(context),
        numbers: None,
    })
}

/// Parses the form `-1,2 +1,3 @@ heading`.
fn numbers(text: &str) -> Option<(Numbers, &str)> {
    let (old, rest) = text.trim_start().strip_prefix('-')?.split_once(" +")?;
    let (new, heading) = rest.split_once("@@").unwrap_or((rest, ""));
    let heading = heading.trim_start_matches('@');
    let parse = |range: &str| -> Option<Numbers> {
        let (line, count) = range.trim().split_once(',').unwrap_or((range.trim(), "1"));
        Some(Numbers {
            line: line.parse().ok()?,
            count: count.parse().ok()?,
        })
    };
    parse(new)?;
    let heading = heading.strip_prefix(' ').unwrap_or(heading);
    Some((parse(old)?, heading.trim_end()))
}

/// True for the line of a diff that says that the line before it has no end.
pub(super) fn is_no_newline(line: &str) -> bool {
    let text = line.trim_start().strip_prefix('\\').map(str::trim);
    text.is_some_and(|text| {
        text.to_ascii_lowercase()
            .starts_with("no newline at end of file")
    })
}

/// True for a line that only delimits a block of code.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim();
    let name = line
        .strip_prefix("```")
        .or_else(|| line.strip_prefix("~~~"));
    name.is_some_and(|name| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    })
}

/// Returns the change that the two lines `---` and `+++` of a unified diff name.
pub(super) fn diff_header<'a>(old: &'a str, new: &'a str) -> Option<(Kind, &'a str)> {
    let path = |line: &'a str, mark: &str| -> Option<&'a str> {
        let path = line.strip_prefix(mark)?;
        Some(clean(path.split('\t').next().unwrap_or_default()))
    };
    let (old, new) = (path(old, "--- ")?, path(new, "+++ ")?);
    let name = |path: &'a str, side: &str| path.strip_prefix(side).filter(|path| !path.is_empty());
    match (old, new) {
        ("" | "/dev/null", "" | "/dev/null") => None,
        ("/dev/null", new) => Some((Kind::Add, name(new, "b/").unwrap_or(new))),
        (old, "/dev/null") => Some((Kind::Delete, name(old, "a/").unwrap_or(old))),
        (old, new) => match (name(old, "a/"), name(new, "b/")) {
            (Some(old), Some(new)) if old == new => Some((Kind::Update, new)),
            _ if old == new => Some((Kind::Update, new)),
            _ => None,
        },
    }
}

/// True for a line of a diff of Git between the files and their changes.
pub(super) fn is_diff_preamble(line: &str) -> bool {
    [
        "diff --git ",
        "index ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_recognized_in_all_spellings() {
        for (line, expected) in [
            ("*** Begin Patch", Some(Marker::Begin)),
            ("*** begin patch ***", Some(Marker::Begin)),
            ("***End Patch", Some(Marker::End)),
            ("*** End of File", Some(Marker::EndOfFile)),
            (
                "*** Update File: a b.py ",
                Some(Marker::File(Kind::Update, " a b.py")),
            ),
            (
                "*** Update File a.py",
                Some(Marker::File(Kind::Update, " a.py")),
            ),
            (
                "*** UPDATE FILE : a.py",
                Some(Marker::File(Kind::Update, " a.py")),
            ),
            ("*** Create File: a", Some(Marker::File(Kind::Add, " a"))),
            ("*** Remove File:a", Some(Marker::File(Kind::Delete, "a"))),
            ("*** Move to: b", Some(Marker::Move(" b"))),
            ("*** Rename File: b", Some(Marker::Unknown)),
            ("*** Update Files: b", Some(Marker::Unknown)),
            ("***", None),
            ("***bold***", None),
            ("* item", None),
        ] {
            assert_eq!(marker(line), expected, "{line}");
        }
    }

    #[test]
    fn paths_are_freed_from_what_surrounds_them() {
        for path in [
            "a b.py",
            " a b.py ",
            "\"a b.py\"",
            "`a b.py`",
            "'a b.py'\r",
            "a b.py ***",
        ] {
            assert_eq!(clean(path), "a b.py", "{path}");
        }
        assert_eq!(clean("\"a"), "\"a");
        assert_eq!(clean("''"), "''");
    }

    #[test]
    fn the_start_of_a_chunk_tells_its_place() {
        let place = |context: Option<&'static str>, numbers: Option<(usize, usize)>| {
            Some(Start {
                context,
                numbers: numbers.map(|(line, count)| Numbers { line, count }),
            })
        };
        for (line, expected) in [
            ("@@", place(None, None)),
            ("@@ ", place(None, None)),
            ("@@ ... @@", place(None, None)),
            ("@@ @@", place(None, None)),
            ("@@ def a():", place(Some("def a():"), None)),
            ("@@ def a(): @@", place(Some("def a():"), None)),
            ("@@def a():", place(Some("def a():"), None)),
            ("@@   indented", place(Some("  indented"), None)),
            ("@@ -3,2 +3,2 @@", place(None, Some((3, 2)))),
            (
                "@@ -3 +3,2 @@ fn a() {",
                place(Some("fn a() {"), Some((3, 1))),
            ),
            ("@@ -3,0 +4", place(None, Some((3, 0)))),
            ("@@@ -3,1 +3,2 @@@", place(None, Some((3, 1)))),
            ("@@ -x + y", place(Some("-x + y"), None)),
            (" @@", None),
        ] {
            assert_eq!(start(line), expected, "{line}");
        }
    }

    #[test]
    fn the_lines_of_a_diff_name_a_change() {
        for (old, new, expected) in [
            ("--- a/x.py", "+++ b/x.py", Some((Kind::Update, "x.py"))),
            (
                "--- x.py\t2026-01-01",
                "+++ x.py\t2026-01-02",
                Some((Kind::Update, "x.py")),
            ),
            ("--- /dev/null", "+++ b/x.py", Some((Kind::Add, "x.py"))),
            ("--- a/x.py", "+++ /dev/null", Some((Kind::Delete, "x.py"))),
            ("--- a/x.py", "+++ b/y.py", None),
            ("--- a/x.py", " +++ b/x.py", None),
        ] {
            assert_eq!(diff_header(old, new), expected, "{old} {new}");
        }
    }
}
