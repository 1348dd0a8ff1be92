//! Markdown files with definitions: settings as YAML front matter, and a text.

mod files;
mod folder;
mod front_matter;
mod listing;
mod tree;
mod unquoted;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value};

pub(crate) use files::{FileFilter, Found, ReadBudget, UnreadablePath, find};
pub(crate) use folder::{Definition, Folder, Reader};
pub(crate) use listing::Listings;

use crate::config::{
    Decoded, Diagnostic, DiagnosticKind, Position, Pruned, Repeats, Step, UnreadablePermissions,
    position, repeated_message,
};
use front_matter::Cut;

/// A file with a definition.
#[derive(Debug)]
pub(crate) struct Markdown {
    /// The path of the file, for diagnostics.
    origin: String,
    /// The text of the front matter, used to find the positions of fields.
    front: String,
    /// The fields of the front matter.
    fields: Value,
    /// The fields with an earlier value of a name that stands twice.
    earlier: Vec<Value>,
    /// The reason why the values of names that stand twice are uncertain, if so.
    uncertain: Option<String>,
    /// The text below the front matter, or the whole text.
    pub body: String,
    /// The reason why the front matter cannot be read, if so.
    unread: Option<String>,
}

/// The decoded fields of a file, without those that cannot be read.
#[derive(Debug)]
pub(crate) struct Fields<T> {
    /// The decoded value.
    pub value: T,
    /// The paths of the fields that cannot be read, with the reasons. An empty path stands for the whole front matter.
    pub lost: Vec<(Vec<Step>, String)>,
}

impl Markdown {
    /// Parses a file. Returns `None` and adds a diagnostic if the file is not UTF-8.
    ///
    /// If the front matter is invalid, the whole text becomes the body, and a diagnostic reports it.
    pub(crate) fn parse(
        path: &Path,
        bytes: &[u8],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let origin = path.display().to_string();
        let text = match utf8(bytes) {
            Ok(text) => text,
            Err(place) => {
                let message = "The text is not UTF-8; the whole file is left out".to_owned();
                let kind = DiagnosticKind::Syntax;
                diagnostics.push(Diagnostic::new(&origin, kind, message, Some(place)));
                return None;
            }
        };
        let mut unread = None;
        let (front, (fields, repeats), body) = match read(text) {
            Ok(parts) => parts,
            Err((message, place)) => {
                let message = format!("{message}; everything counts as the text");
                let kind = DiagnosticKind::Syntax;
                let diagnostic = Diagnostic::new(&origin, kind, message, place);
                unread = Some(diagnostic.to_string());
                diagnostics.push(diagnostic);
                ("".into(), (Map::new(), Repeats::default()), text)
            }
        };
        let uncertain = report_repeats(&origin, &repeats, diagnostics);
        Some(Self {
            origin,
            front: front.into_owned(),
            fields: Value::Object(fields),
            earlier: repeats.found.into_iter().map(|it| it.document).collect(),
            uncertain,
            body: body.to_owned(),
            unread,
        })
    }

    /// True if there are neither fields nor text.
    pub(crate) fn is_blank(&self) -> bool {
        self.front.is_empty() && self.body.trim().is_empty()
    }

    /// Decodes the fields. Leaves out fields that cannot be read and adds a diagnostic for each.
    pub(crate) fn decode<T>(
        &self,
        read: impl Fn(&Value) -> Decoded<T>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Fields<T>> {
        let mut pruned = Pruned::new(self.fields.clone());
        let unread = self
            .unread
            .iter()
            .map(|reason| (Vec::new(), reason.clone()));
        let mut lost: Vec<_> = unread.collect();
        loop {
            let invalid = match read(pruned.value()) {
                Ok(value) => return Some(Fields { value, lost }),
                Err(invalid) => invalid,
            };
            let path = invalid.path();
            let invalid = invalid.about(&pruned.original(&path));
            let removed = pruned.remove(&path);
            // The remaining fields cannot be the reason.
            if removed.is_empty() {
                return None;
            }
            let message = format!("{invalid}; this value is left out");
            let diagnostic = self.complaint(DiagnosticKind::Invalid, message, &removed);
            lost.push((removed, diagnostic.to_string()));
            diagnostics.push(diagnostic);
        }
    }

    /// The fields by name.
    pub(crate) fn fields(&self) -> Option<&Map<String, Value>> {
        self.fields.as_object()
    }

    /// The fields with an earlier value of a name that stands twice, one for each such name.
    pub(crate) fn earlier(&self) -> &[Value] {
        &self.earlier
    }

    /// The reason why names that stand twice hide rules, if so.
    pub(crate) fn uncertain(&self) -> Option<String> {
        self.uncertain.clone()
    }

    /// Creates a diagnostic about the field at a path.
    pub(crate) fn complaint(
        &self,
        kind: DiagnosticKind,
        message: String,
        path: &[Step],
    ) -> Diagnostic {
        let place = match path.first() {
            Some(Step::Key(field)) => self.place(field),
            _ => None,
        };
        Diagnostic::new(&self.origin, kind, message, place)
    }

    /// The path of the file, for diagnostics.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The position of a field.
    pub(crate) fn place(&self, field: &str) -> Option<Position> {
        front_matter::position_of(&self.front, field)
    }
}

/// The front matter, its fields, and the body of a text.
type Parts<'t> = (
    Cow<'t, str>,
    (Map<String, Value>, Repeats<Position>),
    &'t str,
);

fn read(text: &str) -> Result<Parts<'_>, (String, Option<Position>)> {
    match front_matter::cut(text) {
        Cut::Absent => Ok(("".into(), (Map::new(), Repeats::default()), text)),
        Cut::Open => {
            let message = "The front matter has no end; put a line `---` below it";
            Err((message.to_owned(), Some(position(text, 0))))
        }
        Cut::Toml => {
            let message = "The front matter is TOML; write it as YAML between two lines `---`";
            Err((message.to_owned(), Some(position(text, 0))))
        }
        Cut::Parts { front, body } => match front_matter::parse(&front) {
            Ok(fields) => Ok((front, fields, body)),
            Err(error) => Err((error.message, error.position)),
        },
    }
}

/// Reports the names that stand twice. Returns the reason why their values are uncertain, if they are.
fn report_repeats(
    origin: &str,
    repeats: &Repeats<Position>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<String> {
    let mut uncertain = None;
    for repeat in &repeats.found {
        let restricts = UnreadablePermissions::in_file("", &repeat.path, String::new()).is_some();
        let lines = (repeat.first.line, repeat.last.line);
        let message = repeated_message(&repeat.path, lines, restricts);
        let kind = DiagnosticKind::Ignored;
        let diagnostic = Diagnostic::new(origin, kind, message, Some(repeat.last));
        // The members of one rule do not tell which of them belong together.
        if restricts && repeat.path.iter().any(|step| step.key().is_none()) {
            uncertain = Some(diagnostic.to_string());
        }
        diagnostics.push(diagnostic);
    }
    if repeats.is_cut {
        let message = "More names of the front matter stand twice; the last ones hold".to_owned();
        let diagnostic = Diagnostic::new(origin, DiagnosticKind::Ignored, message, None);
        uncertain = Some(diagnostic.to_string());
        diagnostics.push(diagnostic);
    }
    uncertain
}

/// Returns the text without its byte order mark. Fails with the position of the first byte that is not UTF-8.
fn utf8(bytes: &[u8]) -> Result<&str, Position> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        position(valid, valid.len())
    })
}

#[cfg(test)]
mod tests;
