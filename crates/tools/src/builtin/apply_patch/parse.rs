//! Parses a patch as a model writes it. Pure.

/// Reason why a text is not a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PatchError {
    #[error("patchText is required")]
    Blank,
    #[error("apply_patch verification failed: Error: {0}")]
    Syntax(String),
    #[error("patch rejected: empty patch")]
    Empty,
    #[error("apply_patch moves are not supported yet")]
    Move,
}

/// The change of one file.
#[derive(Debug, PartialEq)]
pub(super) struct Hunk {
    pub(super) path: String,
    pub(super) action: Action,
}

#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Creates the file with this content.
    Add(String),
    Delete,
    Update(Vec<Chunk>),
}

/// Consecutive lines of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chunk {
    /// A line to find before the chunk.
    pub(super) context: Option<String>,
    pub(super) lines: Vec<Line>,
    /// True if the chunk belongs at the end of the file.
    pub(super) at_end: bool,
}

/// A line of a chunk without its first character.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    Keep(String),
    Remove(String),
    Insert(String),
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Parses a patch. Ignores the text before and after it.
pub(super) fn parse(text: &str) -> Result<Vec<Hunk>, PatchError> {
    if text.trim().is_empty() {
        return Err(PatchError::Blank);
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let begin = lines.iter().position(|line| line.trim() == BEGIN);
    let body = begin.map(|begin| &lines[begin + 1..]);
    let end = body.and_then(|body| body.iter().position(|line| line.trim_end() == END));
    let (Some(body), Some(end)) = (body, end) else {
        let issue = format!("Invalid patch format: missing Begin/End markers ({BEGIN}, {END})");
        return Err(PatchError::Syntax(issue));
    };
    let mut parser = Parser {
        lines: &body[..end],
        moves: false,
    };
    let mut hunks = Vec::new();
    while let Some(line) = parser.next() {
        hunks.push(parser.hunk(line).map_err(PatchError::Syntax)?);
    }
    if parser.moves {
        return Err(PatchError::Move);
    }
    if hunks.is_empty() {
        return Err(PatchError::Empty);
    }
    Ok(hunks)
}

struct Parser<'a> {
    lines: &'a [&'a str],
    /// True if the patch requests a move.
    moves: bool,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.lines.split_first()?;
        self.lines = rest;
        Some(first)
    }

    /// Returns the next line, unless the next part of the patch begins there.
    fn next_of_part(&mut self) -> Option<&'a str> {
        let first = self.lines.first()?;
        if first.starts_with("*** ") {
            None
        } else {
            self.next()
        }
    }

    fn hunk(&mut self, header: &str) -> Result<Hunk, String> {
        let (path, action) = if let Some(path) = header.strip_prefix("*** Add File:") {
            (file_path(path, "add")?, Action::Add(self.added()?))
        } else if let Some(path) = header.strip_prefix("*** Delete File:") {
            (file_path(path, "delete")?, Action::Delete)
        } else if let Some(path) = header.strip_prefix("*** Update File:") {
            let path = file_path(path, "update")?;
            self.destination()?;
            let chunks = self.chunks(&path)?;
            (path, Action::Update(chunks))
        } else {
            return Err(invalid("patch line", header));
        };
        Ok(Hunk { path, action })
    }

    fn destination(&mut self) -> Result<(), String> {
        let next = self
            .lines
            .first()
            .and_then(|line| line.strip_prefix("*** Move to:"));
        if let Some(path) = next {
            file_path(path, "move")?;
            self.next();
            self.moves = true;
        }
        Ok(())
    }

    fn added(&mut self) -> Result<String, String> {
        let mut lines = Vec::new();
        while let Some(line) = self.next_of_part() {
            lines.push(
                line.strip_prefix('+')
                    .ok_or_else(|| invalid("add file line", line))?,
            );
        }
        let mut content = lines.join("\n");
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        Ok(content)
    }

    fn chunks(&mut self, path: &str) -> Result<Vec<Chunk>, String> {
        let mut chunks = Vec::new();
        while let Some(line) = self.next_of_part() {
            let context = line.strip_prefix("@@").map(str::trim_end);
            let context = match context {
                Some("") => None,
                Some(context) if context.starts_with(' ') => Some(context[1..].to_owned()),
                _ => return Err(invalid("update file line", line)),
            };
            chunks.push(self.chunk(context)?);
        }
        if chunks.is_empty() {
            return Err(format!(
                "Invalid update of {path}: expected at least one @@ chunk"
            ));
        }
        Ok(chunks)
    }

    fn chunk(&mut self, context: Option<String>) -> Result<Chunk, String> {
        let mut chunk = Chunk {
            context,
            ..Chunk::default()
        };
        while self
            .lines
            .first()
            .is_some_and(|line| !line.starts_with("@@"))
        {
            if self
                .lines
                .first()
                .is_some_and(|line| line.trim_end() == END_OF_FILE)
            {
                self.next();
                chunk.at_end = true;
                break;
            }
            let Some(line) = self.next_of_part() else {
                break;
            };
            let kind = match line.chars().next() {
                Some(' ') => Line::Keep,
                Some('-') => Line::Remove,
                Some('+') => Line::Insert,
                _ => return Err(invalid("update chunk line", line)),
            };
            chunk.lines.push(kind(line[1..].to_owned()));
        }
        Ok(chunk)
    }
}

fn file_path(text: &str, action: &str) -> Result<String, String> {
    let path = text.trim();
    if path.is_empty() {
        return Err(format!("Invalid {action} file path"));
    }
    Ok(path.to_owned())
}

fn invalid(what: &str, line: &str) -> String {
    format!("Invalid {what}: {line}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patch(body: &str) -> String {
        format!("{BEGIN}\n{body}{END}")
    }

    fn error_of(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_hunk_is_read() {
        let text = "Here it is:\ncat <<'EOF'\n*** Begin Patch\n\
            *** Add File: new/a.txt\n+one\n+\n+ two\n\
            *** Add File: empty\n\
            *** Add File: ended\n+a\n+\n\
            *** Delete File:  old file.txt \n\
            *** Update File: b.rs\n@@ fn main() {\n keep\n-remove\n+insert\n\
            @@\n+last\n*** End of File\n\
            @@ \n  *** End Patch\n-*** Begin Patch\n+@@ no context\n\
            *** End Patch\nEOF\nDone.";
        let (keep, remove, insert) = (
            |line: &str| Line::Keep(line.into()),
            |line: &str| Line::Remove(line.into()),
            |line: &str| Line::Insert(line.into()),
        );
        let hunk = |path: &str, action| Hunk {
            path: path.into(),
            action,
        };
        let expected = vec![
            hunk("new/a.txt", Action::Add("one\n\n two\n".into())),
            hunk("empty", Action::Add(String::new())),
            hunk("ended", Action::Add("a\n".into())),
            hunk("old file.txt", Action::Delete),
            hunk(
                "b.rs",
                Action::Update(vec![
                    Chunk {
                        context: Some("fn main() {".into()),
                        lines: vec![keep("keep"), remove("remove"), insert("insert")],
                        at_end: false,
                    },
                    Chunk {
                        context: None,
                        lines: vec![insert("last")],
                        at_end: true,
                    },
                    Chunk {
                        context: None,
                        lines: vec![
                            keep(" *** End Patch"),
                            remove("*** Begin Patch"),
                            insert("@@ no context"),
                        ],
                        at_end: false,
                    },
                ]),
            ),
        ];
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn windows_line_breaks_are_valid_in_headers_and_stay_in_content() {
        let text = patch("*** Add File: a\n+b\n*** Delete File: c\n").replace('\n', "\r\n");
        let expected = vec![
            Hunk {
                path: "a".into(),
                action: Action::Add("b\r\n".into()),
            },
            Hunk {
                path: "c".into(),
                action: Action::Delete,
            },
        ];
        assert_eq!(parse(&text), Ok(expected));
    }

    #[test]
    fn an_invalid_patch_is_refused_with_the_reason() {
        for blank in ["", " \n\t"] {
            assert_eq!(error_of(blank), "patchText is required");
        }
        assert_eq!(error_of(&patch("")), "patch rejected: empty patch");
        let markers =
            "Invalid patch format: missing Begin/End markers (*** Begin Patch, *** End Patch)";
        for text in ["hello", BEGIN, END, "*** End Patch\n*** Begin Patch"] {
            let expected = format!("apply_patch verification failed: Error: {markers}");
            assert_eq!(error_of(text), expected, "{text}");
        }
        for (body, issue) in [
            ("*** Add File: \n+a\n", "Invalid add file path"),
            ("*** Delete File:\n", "Invalid delete file path"),
            ("*** Update File:  \n@@\n-a\n", "Invalid update file path"),
            (
                "*** Update File: a\n*** Move to: \n@@\n",
                "Invalid move file path",
            ),
            ("*** Add File: a\nline\n", "Invalid add file line: line"),
            ("*** Add File: a\n+b\n\n", "Invalid add file line: "),
            ("*** Update File: a\n-b\n", "Invalid update file line: -b"),
            ("*** Update File: a\n@@b\n", "Invalid update file line: @@b"),
            ("*** Update File: a\n@@\n\n", "Invalid update chunk line: "),
            (
                "*** Update File: a\n@@\nb\n",
                "Invalid update chunk line: b",
            ),
            (
                "*** Update File: a\n@@\n+b\n*** End of File\n+c\n",
                "Invalid update file line: +c",
            ),
            (
                "*** Update File: a\n*** Delete File: b\n",
                "Invalid update of a: expected at least one @@ chunk",
            ),
            ("*** Delete File: a\n\n", "Invalid patch line: "),
            (
                "*** Rename File: a\n",
                "Invalid patch line: *** Rename File: a",
            ),
            ("+a\n", "Invalid patch line: +a"),
            ("*** End of File\n", "Invalid patch line: *** End of File"),
        ] {
            let expected = format!("apply_patch verification failed: Error: {issue}");
            assert_eq!(error_of(&patch(body)), expected, "{body}");
        }
    }

    #[test]
    fn a_valid_patch_with_a_move_is_refused() {
        let moves = "*** Update File: a\n*** Move to: b\n@@\n-a\n+b\n";
        assert_eq!(
            error_of(&patch(moves)),
            "apply_patch moves are not supported yet"
        );
        let wrong = patch(&format!("{moves}nonsense\n"));
        let issue = "apply_patch verification failed: Error: Invalid update chunk line: nonsense";
        assert_eq!(error_of(&wrong), issue);
    }

    proptest! {
        #[test]
        fn nothing_panics(lines in prop::collection::vec(
            prop_oneof![
                Just(BEGIN), Just(END), Just(END_OF_FILE), Just("@@"), Just("@@ é"), Just("@@é"),
                Just("*** Add File: a"), Just("*** Update File: é"), Just("*** Delete File: "),
                Just("*** Move to: b"), Just("+é"), Just("-a"), Just(" "), Just(""), Just("é"),
                Just("***"), Just("*** \r"), Just("\r"),
            ],
            0..30,
        )) {
            let body = lines.join("\n");
            let _ = parse(&body);
            let _ = parse(&patch(&(body + "\n")));
        }
    }
}
