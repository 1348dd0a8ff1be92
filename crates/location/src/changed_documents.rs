//! Documents of trusted projects that a tool changed. They count as untrusted until the program confirms its trust.
//!
//! Each such document has a file in the data directory of the host, so it stays known after the host closes. The file
//! contains a hash of the content before the first change: a document with that content again counts as unchanged.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use opencode_handles::{Directory, create_private_folder, read_file};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use crate::directory::reached_paths;
use crate::environment::Environment;

/// Maximum size in bytes of a document that is hashed. A larger one counts as changed.
const MAX_HASHED: u64 = 4 * 1024 * 1024;

/// Maximum size in bytes of a file about a document.
const MAX_RECORD: u64 = 64 * 1024;

/// Maximum number of documents. Above it, no tool changes another one until the program confirms its trust.
const MAX_RECORDS: usize = 10_000;

/// The documents that tools changed, in the data directory of a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChangedDocuments {
    /// `None` if the host has no data directory.
    folder: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    path: PathBuf,
    /// Hash of the content before. `None` if the document did not exist.
    before: Option<String>,
}

impl ChangedDocuments {
    pub(crate) fn of(environment: &Environment) -> Self {
        let is_known = !environment.data.as_os_str().is_empty();
        Self {
            folder: is_known.then(|| environment.embedded().join("changed-documents")),
        }
    }

    /// Notes that a tool is about to change a document. Blocks on disk access.
    ///
    /// # Errors
    ///
    /// Fails if the note cannot be stored. The document must not be changed then.
    pub(crate) fn note(&self, path: &Path) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        create_private_folder(folder)?;
        if fs::read_dir(folder)?.take(MAX_RECORDS).count() == MAX_RECORDS {
            let reason = "too many documents were changed since the program confirmed its trust";
            return Err(io::Error::other(reason));
        }
        let record = Record {
            path: path.to_owned(),
            before: hash_of(path)?,
        };
        let record = serde_json::to_vec(&record)?;
        let created = Directory::open(&fs::canonicalize(folder)?)?.create_file(name(path), &record);
        match created {
            // The content before the first change counts.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    /// Returns the documents that differ from their content before the change. Blocks on disk access.
    ///
    /// # Errors
    ///
    /// Fails if the notes cannot be read. Then every document may be changed.
    pub(crate) fn read(&self) -> io::Result<Vec<PathBuf>> {
        let mut changed = Vec::new();
        for (_, record) in self.records()? {
            let is_same = hash_of(&record.path).is_ok_and(|now| now == record.before);
            if !is_same {
                changed.push(record.path);
            }
        }
        Ok(changed)
    }

    /// Forgets the documents that a reader of one of these places reads: the program trusts them as they are. Blocks on
    /// disk access.
    ///
    /// # Errors
    ///
    /// Fails if the notes cannot be read or removed.
    pub(crate) fn confirm(&self, places: &[PathBuf]) -> io::Result<()> {
        let records = self.records()?;
        if records.is_empty() {
            return Ok(());
        }
        let reached: Vec<_> = places
            .iter()
            .flat_map(|place| reached_paths(place))
            .collect();
        for (note, record) in records {
            if reached.iter().any(|place| record.path.starts_with(place)) {
                fs::remove_file(note)?;
            }
        }
        Ok(())
    }

    fn records(&self) -> io::Result<Vec<(PathBuf, Record)>> {
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut records = Vec::new();
        for entry in entries.take(MAX_RECORDS) {
            let note = entry?.path();
            // A file with another name is the temporary file of a note that was not completed.
            if note
                .extension()
                .is_some_and(|extension| extension == EXTENSION)
                && let Some(bytes) = read_file(&note, MAX_RECORD)?
            {
                records.push((note, serde_json::from_slice(&bytes)?));
            }
        }
        Ok(records)
    }
}

const EXTENSION: &str = "json";

fn name(path: &Path) -> String {
    let hash = hex(&Sha1::digest(path.as_os_str().as_encoded_bytes()));
    format!("{hash}.{EXTENSION}")
}

/// Returns the hash of a file, or `None` if it does not exist.
fn hash_of(path: &Path) -> io::Result<Option<String>> {
    let bytes = read_file(path, MAX_HASHED)?;
    Ok(bytes.map(|bytes| hex(&Sha1::digest(&bytes))))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_changed_while_it_differs() {
        let temp = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(temp.path()).unwrap();
        let environment = Environment {
            data: top.join("data"),
            ..Environment::default()
        };
        let documents = || ChangedDocuments::of(&environment);
        let (one, new) = (top.join("project/one"), top.join("project/new"));
        fs::create_dir(top.join("project")).unwrap();
        fs::write(&one, "a").unwrap();
        assert_eq!(documents().read().unwrap(), [""; 0].map(PathBuf::from));
        documents().note(&one).unwrap();
        documents().note(&new).unwrap();
        assert!(documents().read().unwrap().is_empty());
        fs::write(&one, "b").unwrap();
        documents().note(&one).unwrap();
        assert_eq!(documents().read().unwrap(), std::slice::from_ref(&one));
        fs::write(&new, "b").unwrap();
        fs::write(&one, "a").unwrap();
        assert_eq!(documents().read().unwrap(), std::slice::from_ref(&new));
        documents().confirm(&[top.join("other")]).unwrap();
        assert_eq!(documents().read().unwrap(), std::slice::from_ref(&new));
        documents().confirm(&[top.join("project")]).unwrap();
        assert!(documents().read().unwrap().is_empty());
        fs::write(&one, "c").unwrap();
        assert!(documents().read().unwrap().is_empty());
    }

    #[test]
    fn a_damaged_note_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let environment = Environment {
            data: temp.path().join("data"),
            ..Environment::default()
        };
        let documents = ChangedDocuments::of(&environment);
        documents.note(&temp.path().join("x")).unwrap();
        let folder = documents.folder.as_deref().unwrap();
        fs::write(folder.join("a.json"), "{").unwrap();
        assert!(documents.read().is_err());
        assert!(documents.confirm(&[]).is_err());
    }
}
