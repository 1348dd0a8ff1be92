//! Applies a patch: first checks all files, then makes the changes in the order of the patch.

use std::collections::HashMap;

use opencode_location::directory::Target;

use super::{
    super::{
        diff::{FileDiff, Status},
        place::{FileError, MAX_FILE_BYTES, Place},
        text::Text,
    },
    Applied, Kind, Operation, Step,
    parse::Action,
    unable,
    update::update,
};

/// Maximum number of bytes that one patch reads from files.
const MAX_TOTAL_BYTES: u64 = 4 * MAX_FILE_BYTES;

/// Applies the steps. An error is the message to the model.
pub(super) fn apply(steps: Vec<Step>) -> Result<Applied, String> {
    let changes = prepare(steps)?;
    let mut applied = Applied {
        applied: Vec::new(),
        files: Vec::new(),
    };
    for Change {
        path,
        target,
        work,
        diff,
    } in changes
    {
        if let Err(error) = work.carry_out(&target) {
            return Err(broken_off(&path, &applied.applied, error));
        }
        applied.applied.push(Operation {
            r#type: work.kind(),
            target: target.canonical.to_string_lossy().into_owned(),
            resource: target.resource,
        });
        applied.files.push(diff);
    }
    Ok(applied)
}

/// A step that fits its file. Only an error of the system can prevent it.
struct Change {
    path: String,
    target: Target,
    work: Work,
    diff: FileDiff,
}

enum Work {
    Add(String),
    Update { before: Text, content: Vec<u8> },
    Delete,
}

impl Work {
    fn carry_out(&self, target: &Target) -> Result<(), FileError> {
        let path = &target.canonical;
        match self {
            Self::Add(content) => Place::prepare(path)?.create(content.as_bytes()),
            Self::Update { before, content } => {
                Place::open(path)?.replace_unchanged(before.original(), content)
            }
            Self::Delete => Place::open(path)?.delete(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Add(_) => Kind::Add,
            Self::Update { .. } => Kind::Update,
            Self::Delete => Kind::Delete,
        }
    }
}

/// Checks every file in its state before the patch.
fn prepare(steps: Vec<Step>) -> Result<Vec<Change>, String> {
    let mut room = MAX_TOTAL_BYTES;
    let mut deleted = HashMap::new();
    let mut changes = Vec::new();
    for step in steps {
        let is_deleted = matches!(step.action, Action::Delete);
        let before = deleted.insert(step.target.canonical.clone(), is_deleted);
        // A patch may delete a file and add it again, which replaces it.
        let again = before == Some(true) && matches!(step.action, Action::Add(_));
        if before.is_some() && !again {
            let refused = unable(&step.path);
            return Err(format!("{refused}: the patch names this file twice"));
        }
        changes.push(plan_change(step, &mut room)?);
    }
    Ok(changes)
}

fn plan_change(step: Step, room: &mut u64) -> Result<Change, String> {
    let Step {
        path,
        target,
        action,
        is_shown,
    } = step;
    let refuse = |error: FileError| error.message(&unable(&path));
    let resource = &target.resource;
    let (work, diff) = match action {
        Action::Add(content) => {
            let diff = FileDiff::of(resource, "", &content, Status::Added);
            (Work::Add(content), diff)
        }
        Action::Delete => (Work::Delete, deletion(&target, room).map_err(refuse)?),
        Action::Update(chunks) => {
            let original = read(&target, room).map_err(refuse)?;
            let before = Text::decode(original).map_err(|reason| refuse(reason.into()))?;
            let edits = update(&before.text, &chunks, &path, is_shown)?;
            let after = before.change(&edits);
            let after = after.map_err(|reason| refuse(reason.into()))?;
            let diff = FileDiff::of(resource, &before.text, &after.text, Status::Modified);
            let content = after.bytes;
            (Work::Update { before, content }, diff)
        }
    };
    Ok(Change {
        path,
        target,
        work,
        diff,
    })
}

/// Reads the whole file and subtracts its size from `room`.
fn read(target: &Target, room: &mut u64) -> Result<Vec<u8>, FileError> {
    let mut existing = Place::open(&target.canonical)?.require()?;
    let bytes = existing.read(MAX_FILE_BYTES.min(*room))?;
    *room -= bytes.len() as u64;
    Ok(bytes)
}

/// Returns the diff of a deletion. A file without lines, because of its size or content, can be deleted
/// too.
fn deletion(target: &Target, room: &mut u64) -> Result<FileDiff, FileError> {
    let text = read(target, room).and_then(|bytes| Ok(Text::decode(bytes)?));
    match text {
        Ok(text) => Ok(FileDiff::of(
            &target.resource,
            &text.text,
            "",
            Status::Deleted,
        )),
        Err(FileError::NotText(_) | FileError::TooLarge) => {
            Ok(FileDiff::unknown(&target.resource, Status::Deleted))
        }
        Err(error) => Err(error),
    }
}

fn broken_off(path: &str, applied: &[Operation], error: FileError) -> String {
    if applied.is_empty() {
        return error.message(&unable(path));
    }
    let applied: Vec<_> = applied.iter().map(|done| done.resource.as_str()).collect();
    let applied = applied.join(", ");
    error.message(&format!(
        "Patch partially applied before failing at {path}. Applied: {applied}"
    ))
}
