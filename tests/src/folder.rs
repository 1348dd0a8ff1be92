//! The folder of one life: everything that a kill leaves, and what is needed to do it again.
//!
//! `state` holds what lives on from one generation to the next: the database, the journal, the
//! ledger. `before` is a copy of it from before the newest generation, `killed` one from after it.
//! Further copies are where the check works without disturbing the state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plan::Plan;

/// A folder with a state in it.
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

    /// Makes the folder with an empty state.
    pub fn create(&self) -> io::Result<()> {
        crate::host::make_projects(&self.path)?;
        fs::create_dir_all(&self.state)
    }

    /// The folder itself, where the projects are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state.join("opencode.db")
    }

    /// What models and tools did.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// What the processes said.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    /// What the newest process complained of.
    #[must_use]
    pub fn complaints(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// The same life with a copy of its state under a name, to work on.
    pub fn copy_for(&self, name: &str) -> io::Result<Self> {
        let copy = Self {
            path: self.path.clone(),
            state: self.path.join(name),
        };
        copy_folder(&self.state, &copy.state)?;
        Ok(copy)
    }

    /// Keeps the state under a name.
    pub fn keep(&self, name: &str) -> io::Result<()> {
        copy_folder(&self.state, &self.path.join(name))
    }

    /// Goes back to the state that was kept under a name.
    pub fn restore(&self, name: &str) -> io::Result<()> {
        copy_folder(&self.path.join(name), &self.state)
    }

    /// Remembers what the newest generation is to do.
    pub fn write_plan(&self, plan: &Plan) -> io::Result<()> {
        let text = serde_json::to_string_pretty(plan)?;
        fs::write(self.path.join("plan.json"), text)
    }

    /// What the newest generation was to do.
    pub fn read_plan(&self) -> io::Result<Plan> {
        let text = fs::read_to_string(self.path.join("plan.json"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Replaces a folder by a copy of another one. Only files are in it.
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
