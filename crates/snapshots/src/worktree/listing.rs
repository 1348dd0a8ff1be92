//! The second pass: lists changed directories and applies the ignore rules.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    sync::Arc,
};

use git2::Oid;
use opencode_handles::{Child, Directory, Kind, is_absent, is_temporary, now};

use super::{Content, Folder, Known, Listing, Pending, Tree};
use crate::entry::SkipReason;
use crate::error::SnapshotError;
use crate::path;
use crate::rules::{self, Rules};
use crate::worktree::watch::Watch;

/// Maximum number of files and directories of a snapshot.
const MAX_NAMES: usize = 200_000;

/// Maximum depth of directories.
const MAX_DEPTH: usize = 200;

/// Files of each directory from an earlier process. Their stamps are checked again.
pub(crate) type EarlierFiles = HashMap<String, Vec<Known>>;

/// Options of a refresh.
pub(crate) struct RefreshOptions<'a> {
    /// True to list every directory again, regardless of its stamp.
    pub anew: bool,
    /// Paths that are never captured.
    pub private: &'a [String],
    pub earlier: EarlierFiles,
    /// Watch of the directories, if active.
    pub watch: Option<&'a mut Watch>,
}

/// The state of one refresh.
struct Refresh<'a> {
    root: &'a Directory,
    private: &'a [String],
    earlier: EarlierFiles,
    watch: Option<&'a mut Watch>,
    /// Contents that files no longer have.
    left: Vec<Oid>,
    names: usize,
}

/// Updates the state of directories after a survey. Returns the contents that files no longer have.
pub(crate) fn refresh(
    root: &Directory,
    folder: &mut Folder,
    above: &Arc<Rules>,
    options: RefreshOptions<'_>,
) -> Result<Vec<Oid>, SnapshotError> {
    let mut pass = Refresh {
        root,
        private: options.private,
        earlier: options.earlier,
        watch: options.watch,
        left: Vec::new(),
        names: 0,
    };
    if pass.refresh(folder, above, options.anew, 0)? {
        return Ok(pass.left);
    }
    Err(SnapshotError::Io {
        what: folder.own.path.clone(),
        source: io::ErrorKind::NotFound.into(),
    })
}

impl Refresh<'_> {
    /// Updates a directory. Returns false if the directory does not exist any more.
    fn refresh(
        &mut self,
        folder: &mut Folder,
        above: &Arc<Rules>,
        anew: bool,
        depth: usize,
    ) -> Result<bool, SnapshotError> {
        if depth > MAX_DEPTH {
            return Err(SnapshotError::TooLarge(
                "directories are nested over 200 deep",
            ));
        }
        let mut anew = anew;
        match std::mem::replace(&mut folder.own.pending, Pending::Same) {
            Pending::Same if !anew => {}
            Pending::Same | Pending::Names => match self.list(folder, above)? {
                Listed::Gone => return Ok(false),
                Listed::SameRules => {}
                Listed::OtherRules => anew = true,
            },
            Pending::Gone => {
                self.forget_directory(folder);
                return Ok(false);
            }
        }
        self.names += folder.own.files.len() + 1;
        if self.names > MAX_NAMES {
            return Err(SnapshotError::TooLarge("it has over 200,000 files"));
        }
        let mut gone = Vec::new();
        for (name, child) in &mut folder.children {
            if !self.refresh(child, &folder.own.rules, anew, depth + 1)? {
                gone.push(name.clone());
            }
        }
        for name in gone {
            folder.children.remove(&name);
            folder.own.tree = Tree::Unknown;
        }
        Ok(true)
    }

    /// Lists a directory and reads its ignore rules.
    fn list(&mut self, folder: &mut Folder, above: &Arc<Rules>) -> Result<Listed, SnapshotError> {
        let started = now();
        let opened = self.root.below(&folder.own.path);
        let read = opened.and_then(|held| Ok((held.stamp()?, children(&held)?, held)));
        let (stamp, children, held) = match read {
            Ok((_, children, _)) if children.len() > MAX_NAMES => {
                return Err(SnapshotError::TooLarge(
                    "a directory has over 200,000 names",
                ));
            }
            Ok(read) => read,
            Err(error) => {
                self.forget_directory(folder);
                if is_absent(&error) {
                    return Ok(Listed::Gone);
                }
                tracing::debug!(path = folder.own.path, %error, "a directory is not captured");
                *folder = Folder::unknown(std::mem::take(&mut folder.own.path), Arc::clone(above));
                let reason = (String::new(), SkipReason::Unreadable);
                folder.own.skipped.push(reason);
                folder.own.pending = Pending::Same;
                return Ok(Listed::SameRules);
            }
        };
        let own = &mut folder.own;
        let is_watched_anew = self.watch_directory(&held, own);
        let (rules, ignore_file) = rules::read(&held, &own.path, above);
        let same_rules = own.has_settled_rules && ignore_file == own.ignore_file;
        own.rules = rules;
        own.has_settled_rules = ignore_file.is_none_or(|stamp| stamp.is_settled(started));
        own.ignore_file = ignore_file;
        own.inode = Some(stamp.inode);
        // The watch does not report changes from before it was added.
        let settled = stamp.is_settled(started) && own.has_settled_rules && !is_watched_anew;
        own.stamp = settled.then_some(stamp);
        self.sort(folder, children);
        Ok(if same_rules {
            Listed::SameRules
        } else {
            Listed::OtherRules
        })
    }

    /// Sorts names into files, directories and skipped paths. Keeps the known state of each.
    fn sort(&mut self, folder: &mut Folder, children: Vec<Child>) {
        let own = &mut folder.own;
        let is_git = |child: &Child| child.name.to_str().is_some_and(path::is_git);
        let is_nested = !own.path.is_empty() && children.iter().any(is_git);
        let mut known = std::mem::take(&mut own.files);
        known.extend(self.earlier.remove(&own.path).unwrap_or_default());
        let mut before = Before {
            private: self.private,
            files: known
                .into_iter()
                .map(|file| (file.name.clone(), file))
                .collect(),
            children: std::mem::take(&mut folder.children),
        };
        own.tree = Tree::Unknown;
        own.skipped.clear();
        if is_nested {
            own.skipped.push((String::new(), SkipReason::Repository));
        } else {
            for child in children {
                before.take(child, own, &mut folder.children);
            }
        }
        own.files
            .sort_unstable_by(|left, right| left.name.cmp(&right.name));
        own.skipped.sort_unstable();
        self.left
            .extend(before.files.values().filter_map(|file| file.content.id()));
        before
            .children
            .values()
            .for_each(|child| self.forget_directory(child));
    }

    /// Watches a directory if a watch is active. Returns true if the directory was not watched
    /// before.
    fn watch_directory(&mut self, held: &Directory, own: &mut Listing) -> bool {
        let Some(watch) = &mut self.watch else {
            return false;
        };
        let before = own.watch.take();
        own.watch = watch.add(held, &own.path);
        if let Some(before) = before
            && own.watch != Some(before)
        {
            watch.remove(before, &own.path);
        }
        own.watch != before
    }

    /// Records the contents of a removed directory.
    fn forget_directory(&mut self, folder: &Folder) {
        folder.each(&mut |listing| {
            if let (Some(watch), Some(number)) = (&mut self.watch, listing.watch) {
                watch.remove(number, &listing.path);
            }
            let contents = listing.files.iter().map(|file| file.content);
            self.left.extend(contents.filter_map(Content::id));
        });
    }
}

/// Returns the entries of a directory, at most one more than the limit.
fn children(held: &Directory) -> io::Result<Vec<Child>> {
    held.children()?.take(MAX_NAMES + 1).collect()
}

/// The result of listing a directory.
enum Listed {
    Gone,
    SameRules,
    /// The rules changed, so everything below must be checked again.
    OtherRules,
}

/// The previous state of a directory, without the items that were found again.
struct Before<'a> {
    private: &'a [String],
    files: BTreeMap<String, Known>,
    children: BTreeMap<String, Folder>,
}

impl Before<'_> {
    /// Adds one name to the list that it belongs to.
    fn take(
        &mut self,
        Child { name, kind }: Child,
        own: &mut Listing,
        children: &mut BTreeMap<String, Folder>,
    ) {
        let name = match name.into_string() {
            Ok(name) => name,
            Err(name) => {
                let name = name.to_string_lossy().into_owned();
                return own.skipped.push((name, SkipReason::Name));
            }
        };
        let path = path::join(&own.path, &name);
        let is_ours = path::is_git(&name) || is_temporary(&name);
        let is_ours = is_ours || self.private.contains(&path);
        if is_ours || own.rules.ignores(&path, kind == Kind::Directory) {
            return;
        }
        match kind {
            Kind::Directory => {
                let child = self.children.remove(&name);
                let unknown = || Folder::unknown(path, Arc::clone(&own.rules));
                children.insert(name, child.unwrap_or_else(unknown));
            }
            Kind::File | Kind::Executable | Kind::Link => {
                let unknown = || Known {
                    name: name.clone(),
                    stamp: None,
                    content: Content::Unknown,
                };
                own.files
                    .push(self.files.remove(&name).unwrap_or_else(unknown));
            }
            Kind::Other => own.skipped.push((name, SkipReason::Special)),
        }
    }
}
