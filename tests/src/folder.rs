//! The folder of one life: the state after a kill, and the data that repeats a generation.
//!
//! `state` holds the data that persists from one generation to the next: the database, the journal
//! and the ledger. `before` is a copy of it from before the newest generation, `killed` is a copy
//! from after it. The checks work on further copies, so that they do not change the state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plan::Plan;

/// A folder that contains a state.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    state: PathBuf,
}

impl Folder {
    /// A life in this folder.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            state: path.join("state"),
        }
    }

    /// Creates the folder with its projects and an empty state.
    pub fn create(&self) -> io::Result<()> {
        crate::host::make_projects(&self.path)?;
        fs::create_dir_all(&self.state)
    }

    /// The folder itself. It contains the projects.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state.join("opencode.db")
    }

    /// The acts of models and tools.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// The lines of the processes.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    /// The error output of the newest process.
    #[must_use]
    pub fn complaints(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// The same life with a copy of its state under this name.
    pub fn copy_for(&self, name: &str) -> io::Result<Self> {
        let copy = Self {
            path: self.path.clone(),
            state: self.path.join(name),
        };
        copy_folder(&self.state, &copy.state)?;
        Ok(copy)
    }

    /// Copies the state to this name.
    pub fn keep(&self, name: &str) -> io::Result<()> {
        copy_folder(&self.state, &self.path.join(name))
    }

    /// Restores the state from the copy with this name.
    pub fn restore(&self, name: &str) -> io::Result<()> {
        copy_folder(&self.path.join(name), &self.state)
    }

    /// Stores the plan of the newest generation.
    pub fn write_plan(&self, plan: &Plan) -> io::Result<()> {
        let text = serde_json::to_string_pretty(plan)?;
        fs::write(self.path.join("plan.json"), text)
    }

    /// The plan of the newest generation.
    pub fn read_plan(&self) -> io::Result<Plan> {
        let text = fs::read_to_string(self.path.join("plan.json"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Replaces a folder with a copy of another folder, which contains only files.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
