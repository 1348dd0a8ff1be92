//! Limits the size of every settlement. A text that is too large for a model is stored whole in a
//! Managed Tool Output File, and the model gets a preview that names the file.

mod sweep;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use opencode_handles::{create_private_folder, private_file};
use opencode_schema::{
    id::{IdSource, SessionID},
    message::ToolContent,
};

pub use self::sweep::{remove_managed_output, remove_managed_output_of, sweep_managed_output};
use crate::bounding::OutputLimits;
use crate::contract::output_owner::{self, PREFIX};
use crate::output::settlement::Settlement;

/// The Managed Tool Output Files of a host.
pub struct ManagedOutput {
    directory: Arc<Path>,
    ids: Arc<IdSource>,
}

struct Bounded {
    preview: String,
    path: Option<String>,
}

impl ManagedOutput {
    /// Stores files in `directory`, which is created when the first file is written.
    #[must_use]
    pub fn new(directory: PathBuf, ids: Arc<IdSource>) -> Self {
        Self {
            directory: directory.into(),
            ids,
        }
    }

    /// Returns the directory, which may not exist yet.
    pub(crate) fn directory(&self) -> &Arc<Path> {
        &self.directory
    }

    fn new_name(&self, root: &SessionID) -> String {
        output_owner::name(&self.ids.next(PREFIX, false), root)
    }

    /// Stores a file that a provider made for a session tree, and returns its path.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub(crate) async fn store(
        &self,
        content: Vec<u8>,
        extension: &str,
        root: &SessionID,
    ) -> io::Result<String> {
        let name = format!("{}.{extension}", self.new_name(root));
        let path = self.directory.join(name);
        let work = opencode_log::spawn_blocking(move || keep(&content, &path));
        work.await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Limits the text for the model. A success stays a success if its text cannot be stored, because
    /// the effect of the tool remains.
    pub(crate) async fn bound(
        &self,
        settlement: Settlement,
        limits: OutputLimits,
        root: &SessionID,
    ) -> Settlement {
        match settlement {
            Settlement::Success {
                structured,
                content,
                mut output_paths,
                explored,
            } => {
                let text = if content.is_empty() {
                    serde_json::to_string_pretty(&structured).expect("a JSON object is text")
                } else {
                    content.iter().filter_map(text_of).collect()
                };
                let content = match self.shorten(text, limits, root).await {
                    Ok(_) => content,
                    Err(bounded) => {
                        output_paths.extend(bounded.path);
                        with_preview(bounded.preview, content)
                    }
                };
                Settlement::Success {
                    structured,
                    content,
                    output_paths,
                    explored,
                }
            }
            Settlement::Failed { message, kind } => Settlement::Failed {
                message: self
                    .shorten(message, limits, root)
                    .await
                    .unwrap_or_else(|bounded| bounded.preview),
                kind,
            },
            ended @ (Settlement::Declined | Settlement::Interrupted) => ended,
        }
    }

    /// Returns the text itself if it fits.
    async fn shorten(
        &self,
        text: String,
        limits: OutputLimits,
        root: &SessionID,
    ) -> Result<String, Bounded> {
        if limits.fits(&text) {
            return Ok(text);
        }
        let path = self.directory.join(self.new_name(root));
        let work = opencode_log::spawn_blocking(move || shorten(&text, &path, limits));
        Err(work.await.unwrap_or_else(|error| {
            // The work is lost only if the runtime shuts down.
            tracing::error!(%error, "bounding of a tool output did not finish");
            Bounded {
                preview: limits.preview("", LOST),
                path: None,
            }
        }))
    }
}

const LOST: &str = "... output truncated; the complete text could not be kept ...";

fn shorten(text: &str, path: &Path, limits: OutputLimits) -> Bounded {
    match keep(text.as_bytes(), path) {
        Ok(path) => {
            let marker = format!("... output truncated; full content saved to {path} ...");
            Bounded {
                preview: limits.preview(text, &marker),
                path: Some(path),
            }
        }
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "a tool output could not be kept");
            Bounded {
                preview: limits.preview(text, LOST),
                path: None,
            }
        }
    }
}

fn keep(content: &[u8], path: &Path) -> io::Result<String> {
    let Some(name) = path.to_str() else {
        return Err(io::Error::other("the path of the file is not Unicode"));
    };
    if let Some(directory) = path.parent() {
        create_private_folder(directory)?;
    }
    let mut file = private_file().create_new(true).open(path)?;
    if let Err(error) = file.write_all(content) {
        // A part of the content must not look like the whole. The write error is the one to report.
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(name.to_owned())
}

fn text_of(part: &ToolContent) -> Option<&str> {
    match part {
        ToolContent::Text { text } => Some(text),
        ToolContent::File { .. } => None,
    }
}

fn with_preview(preview: String, content: Vec<ToolContent>) -> Vec<ToolContent> {
    let files = content.into_iter().filter(|part| text_of(part).is_none());
    std::iter::once(ToolContent::Text { text: preview })
        .chain(files)
        .collect()
}

#[cfg(test)]
mod tests {
    use opencode_schema::{clock::Clock, message::ErrorKind};
    use serde_json::{Value, json};

    use super::*;

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> i64 {
            0
        }
    }

    const FIRST_FILE: &str = "tool_000000000001418991b29d9215";

    async fn bound(directory: &Path, max_lines: usize, settlement: Settlement) -> Settlement {
        let ids = IdSource::with_random(Arc::new(Stopped), |bytes| bytes.fill(0));
        let limits = OutputLimits {
            max_lines,
            ..OutputLimits::default()
        };
        let managed = ManagedOutput::new(directory.to_owned(), Arc::new(ids));
        let root = SessionID::parse("ses_1").unwrap();
        managed.bound(settlement, limits, &root).await
    }

    fn text(text: &str) -> ToolContent {
        ToolContent::Text {
            text: text.to_owned(),
        }
    }

    fn image() -> ToolContent {
        ToolContent::File {
            uri: "data:image/png;base64,AA==".to_owned(),
            mime: "image/png".to_owned(),
            name: None,
        }
    }

    fn success(structured: Value, content: Vec<ToolContent>, paths: Vec<String>) -> Settlement {
        let Value::Object(structured) = structured else {
            panic!("structured values are objects");
        };
        Settlement::Success {
            structured,
            content,
            output_paths: paths,
            explored: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_short_output_is_unchanged_and_writes_no_file() {
        let temp = tempfile::tempdir().unwrap();
        let directory = temp.path().join("tool-output");
        for settlement in [
            success(json!({"a": 1}), vec![], vec![]),
            success(json!({}), vec![text("a\n"), text("b")], vec![]),
            success(json!({}), vec![image()], vec!["/own".to_owned()]),
            Settlement::failed("no"),
            Settlement::Declined,
            Settlement::Interrupted,
        ] {
            let bounded = bound(&directory, 10, settlement.clone()).await;
            assert_eq!(bounded, settlement);
        }
        assert!(!directory.exists());
    }

    #[tokio::test]
    async fn text_parts_are_joined_stored_and_previewed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("deep/tool-output").join(FIRST_FILE);
        let name = path.to_str().unwrap().to_owned();
        let settlement = success(
            json!({"exit": 0}),
            vec![text("1\n2\n3\n4\n5"), image(), text("6\n7\n8")],
            vec!["/own".to_owned()],
        );
        let bounded = bound(path.parent().unwrap(), 6, settlement).await;
        let preview = format!("1\n\n... output truncated; full content saved to {name} ...\n\n8");
        assert_eq!(
            bounded,
            success(
                json!({"exit": 0}),
                vec![text(&preview), image()],
                vec!["/own".to_owned(), name],
            )
        );
        assert_eq!(fs::read_to_string(path).unwrap(), "1\n2\n3\n4\n56\n7\n8");
    }

    #[tokio::test]
    async fn a_structured_value_is_previewed_and_stored_as_indented_json() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join(FIRST_FILE);
        let structured = json!({"entries": ["a", "b", "c", "d"]});
        let bounded = bound(temp.path(), 7, success(structured.clone(), vec![], vec![])).await;
        let name = path.to_str().unwrap().to_owned();
        let preview = format!(
            "{{\n  \"entries\": [\n\n... output truncated; full content saved to {name} ...\n\n}}"
        );
        assert_eq!(
            bounded,
            success(structured.clone(), vec![text(&preview)], vec![name])
        );
        let kept = fs::read_to_string(path).unwrap();
        assert_eq!(kept, serde_json::to_string_pretty(&structured).unwrap());
    }

    #[tokio::test]
    async fn the_text_of_a_failure_is_bounded() {
        let temp = tempfile::tempdir().unwrap();
        let name = temp.path().join(FIRST_FILE).to_str().unwrap().to_owned();
        let bounded = bound(
            temp.path(),
            4,
            Settlement::Failed {
                message: "a\nb\nc\nd\ne".to_owned(),
                kind: ErrorKind::Permission,
            },
        )
        .await;
        assert_eq!(
            bounded,
            Settlement::Failed {
                message: format!("... output truncated; full content saved to {name} ..."),
                kind: ErrorKind::Permission,
            }
        );
    }

    #[tokio::test]
    async fn a_failed_write_does_not_fail_the_call() {
        let temp = tempfile::tempdir().unwrap();
        let taken = temp.path().join(FIRST_FILE);
        fs::write(&taken, "somebody else's").unwrap();
        let not_a_directory = taken.clone();
        for directory in [temp.path(), &not_a_directory] {
            let bounded = bound(
                directory,
                6,
                success(json!({}), vec![text("1\n2\n3\n4\n5\n6\n7")], vec![]),
            )
            .await;
            let preview = format!("1\n\n{LOST}\n\n7");
            assert_eq!(bounded, success(json!({}), vec![text(&preview)], vec![]));
        }
        assert_eq!(fs::read_to_string(taken).unwrap(), "somebody else's");
    }
}
