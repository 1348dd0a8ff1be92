//! The files that differ between two snapshots.

use std::collections::BTreeSet;

use git2::Oid;

use crate::error::SnapshotError;
use crate::objects::Objects;
use crate::path;
use crate::tree::{self, Item, Items};

/// Returns the paths of files that differ below a directory, sorted by bytes.
pub(crate) fn paths(
    objects: &Objects,
    directory: &str,
    from: Option<Item>,
    to: Option<Item>,
) -> Result<Vec<String>, SnapshotError> {
    let mut paths = BTreeSet::new();
    items(objects, directory, from, to, &mut paths)?;
    Ok(paths.into_iter().collect())
}

/// Compares the items at a path. If a file became a directory, both the file and the files of the
/// directory are reported.
fn items(
    objects: &Objects,
    path: &str,
    from: Option<Item>,
    to: Option<Item>,
    paths: &mut BTreeSet<String>,
) -> Result<(), SnapshotError> {
    if from == to {
        return Ok(());
    }
    if is_file(from) || is_file(to) {
        paths.insert(path.to_owned());
    }
    let from = content(objects, from)?;
    let to = content(objects, to)?;
    let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
    for name in names {
        let (from, to) = (from.get(name).copied(), to.get(name).copied());
        items(objects, &path::join(path, name), from, to, paths)?;
    }
    Ok(())
}

fn is_file(item: Option<Item>) -> bool {
    matches!(item, Some(Item::File(..)))
}

fn content(objects: &Objects, item: Option<Item>) -> Result<Items, SnapshotError> {
    match item {
        Some(Item::Tree(id)) => tree::read(objects, id),
        Some(Item::File(..)) | None => Ok(Items::new()),
    }
}

/// Collects all ids of a snapshot. Does not descend into trees that are already in `found`. A tree that is missing has
/// no ids, and those beside it stay known.
pub(crate) fn collect(
    objects: &Objects,
    tree: Oid,
    found: &mut std::collections::HashSet<Oid>,
) -> Result<(), SnapshotError> {
    if !found.insert(tree) {
        return Ok(());
    }
    let items = match tree::read(objects, tree) {
        Err(SnapshotError::Missing(_)) => return Ok(()),
        read => read?,
    };
    for item in items.into_values() {
        match item {
            Item::Tree(id) => collect(objects, id, found)?,
            Item::File(_, id) => {
                found.insert(id);
            }
        }
    }
    Ok(())
}
