//! The `read` tool: a file, a page of a file, or the children of a directory.

mod attachment;
mod directory;
mod file;
mod page;

use std::{fs, path::Path, sync::Arc};

use opencode_location::{
    config::ImageLimits,
    directory::{Target, TargetKind, hard_link_names},
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

pub use self::attachment::{
    Attachment, AttachmentError, AttachmentRequest, Lines, read_attachment,
};
use super::{
    blocking::blocking,
    paths::{Found, Usage, locate_and_look, require_found},
    reasons::of_io,
    shown::request_to_show_by,
    text::NotText,
};
use crate::contract::tool::{ToolContext, ToolOutput};
use crate::contract::typed::TypedTool;
use crate::failure::ToolFailure;
use crate::media::{MAX_MEDIA_BYTES, MediaError, Turn, turn};

/// Maximum number of bytes of text that one call returns.
const MAX_BYTES: usize = 51_200;

/// Maximum number of lines or directory entries that one call returns.
const MAX_COUNT: usize = 2000;

pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadInput {
    path: String,
    #[schemars(description = "First line or directory entry to return, counted from 1.")]
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    #[schemars(description = "Number of lines or directory entries to return, 2000 at most.")]
    #[schemars(range(min = 1, max = MAX_COUNT))]
    limit: Option<usize>,
}

impl TypedTool for Read {
    type Input = ReadInput;
    type Port = ImageLimits;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    async fn run(
        &self,
        input: ReadInput,
        context: ToolContext,
        image_limits: ImageLimits,
    ) -> Result<ToolOutput, ToolFailure> {
        let refused = format!("Unable to read {}", input.path);
        let location = Arc::clone(&context.files.directory);
        let look = move |target: &Target| {
            let path = &target.canonical;
            (Found::at(path), hard_link_names(&location, path))
        };
        let (kind, usage) = (TargetKind::Directory, Usage::Reading);
        let located = locate_and_look(&context, &input.path, kind, usage, &refused, look);
        let (target, (found, hard_links)) = located.await?;
        let kinds = [Found::File, Found::Directory];
        require_found(&context, &target, found, &kinds, &refused).await?;
        let request = request_to_show_by(&context, &target, hard_links);
        context.assert(request, &refused).await?;
        let reading = Arc::new(Reading {
            target,
            input,
            image_limits,
            cancel: context.cancel.clone(),
        });
        let output = match reading.output(None).await {
            // The file is read again, so no large content is held during the wait.
            Err(ReadError::NotItsTurn) => reading.output(turn().await).await,
            output => output,
        };
        output.map_err(|error| error.into_failure(refused, &reading.target.resource))
    }
}

const DESCRIPTION: &str = "\
Read a file or list a directory.

A relative path starts at the working directory and must stay inside it. An absolute path elsewhere \
is possible, but the user is asked first.

A text file of at most 50 KB is returned whole. For a larger one, or when offset or limit is given, \
the result is a page of at most 2000 lines and 50 KB in which lines of more than 2000 characters \
are cut; `truncated` and `next` say where to go on. Text may be UTF-8, UTF-16 or Latin-1. PNG, JPEG, GIF and WebP images are shown, large \
ones smaller. Of another binary file only type and size are reported, if it is small. A directory lists its direct \
children, directories first and with a trailing slash.";

/// One permitted call.
struct Reading {
    target: Target,
    input: ReadInput,
    image_limits: ImageLimits,
    cancel: CancellationToken,
}

/// The requested lines or entries.
#[derive(Clone, Copy)]
struct Paging {
    offset: Option<u64>,
    limit: Option<usize>,
}

impl Paging {
    fn offset(self) -> u64 {
        self.offset.unwrap_or(1)
    }

    fn limit(self) -> usize {
        self.limit.unwrap_or(MAX_COUNT)
    }

    fn is_given(self) -> bool {
        self.offset.is_some() || self.limit.is_some()
    }
}

/// The reason if another program replaced a part of the path.
const CHANGED: &str = "its path changed while a permission was requested";

/// Reason why the read failed.
#[derive(Debug)]
enum ReadError {
    /// The reason, as the end of a sentence.
    Unreadable(String),
    /// The first line is behind the end.
    BehindEnd {
        /// The number of the requested line.
        offset: u64,
        /// Number of lines.
        count: u64,
    },
    /// The file is neither text nor small.
    Binary,
    /// The file is text that cannot be decoded.
    NotText(NotText),
    /// The file is an image that cannot be shown.
    Media(MediaError),
    /// The file is an image, and the call does not hold a turn.
    NotItsTurn,
    /// The result could not be encoded.
    Output(ToolFailure),
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        if let Some(reason) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Self::NotText(NotText::clone(reason));
        }
        tracing::debug!(%error, "a read failed");
        Self::Unreadable(of_io(&error))
    }
}

impl From<MediaError> for ReadError {
    fn from(error: MediaError) -> Self {
        Self::Media(error)
    }
}

impl From<ToolFailure> for ReadError {
    fn from(failure: ToolFailure) -> Self {
        Self::Output(failure)
    }
}

impl ReadError {
    fn into_failure(self, refused: String, resource: &str) -> ToolFailure {
        ToolFailure::new(match self {
            Self::Unreadable(reason) => format!("{refused}: {reason}"),
            Self::BehindEnd { offset, count } => {
                let lines = if count == 1 { "line" } else { "lines" };
                format!("{refused}: the offset {offset} is behind the end, it has {count} {lines}")
            }
            Self::NotItsTurn => refused,
            Self::Binary => format!("Cannot read binary file: {resource}"),
            Self::NotText(reason) => format!("{refused}: {reason}"),
            Self::Media(MediaError::TooLarge { .. }) => {
                format!("Media exceeds {MAX_MEDIA_BYTES} byte ingestion limit: {resource}")
            }
            Self::Media(MediaError::ImageTooLarge(excess)) => format!("Image {resource} {excess}"),
            Self::Media(MediaError::Interrupted) => return ToolFailure::Interrupted,
            Self::Media(_) => format!("Image could not be decoded: {resource}"),
            Self::Output(failure) => return failure,
        })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Directory,
}

/// Returns the kind of an entry that can be read. Other entries, such as FIFOs, are refused without
/// opening them, because opening alone may wait forever.
fn kind_of(path: &Path) -> Option<Kind> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if metadata.is_file() {
        Some(Kind::File)
    } else if metadata.is_dir() {
        Some(Kind::Directory)
    } else {
        None
    }
}

impl Reading {
    async fn output(self: &Arc<Self>, turn: Option<Turn>) -> Result<ToolOutput, ReadError> {
        let reading = Arc::clone(self);
        blocking(move || reading.read(turn.as_ref())).await?
    }

    fn read(&self, turn: Option<&Turn>) -> Result<ToolOutput, ReadError> {
        // The permission may have taken hours, and files may have changed meanwhile.
        if !self.target.still_resolves() {
            return Err(ReadError::Unreadable(CHANGED.to_owned()));
        }
        let paging = Paging {
            offset: self.input.offset,
            limit: self.input.limit,
        };
        match kind_of(&self.target.canonical) {
            Some(Kind::File) => {
                let mut output = file::read(self, paging, turn)?;
                output.explored.extend(directory_below(&self.target));
                Ok(output)
            }
            Some(Kind::Directory) => directory::list(&self.target.canonical, paging, &self.cancel),
            None => Err(ReadError::Unreadable(CHANGED.to_owned())),
        }
    }
}

/// Returns the directory of a file below the Location, or `None` for a file in its root or outside.
fn directory_below(file: &Target) -> Option<String> {
    if file.external_directory.is_some() {
        return None;
    }
    let (directory, _) = file.resource.rsplit_once('/')?;
    Some(directory.to_owned())
}
