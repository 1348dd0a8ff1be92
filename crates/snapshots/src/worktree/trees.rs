//! The last pass: stores the trees of changed directories and of the directories above them.

use super::{Content, Folder, Tree};
use crate::error::SnapshotError;
use crate::objects::Objects;
use crate::tree::{self, Item};

/// Stores the trees of a directory and of everything below it. A directory without files has no
/// tree, because Git does not track it.
pub(crate) fn store(objects: &Objects, folder: &mut Folder) -> Result<Tree, SnapshotError> {
    for child in folder.children.values_mut() {
        let before = child.own.tree;
        if store(objects, child)? != before {
            folder.own.tree = Tree::Unknown;
        }
    }
    if folder.own.tree != Tree::Unknown {
        return Ok(folder.own.tree);
    }
    let files = folder
        .own
        .files
        .iter()
        .filter_map(|file| match file.content {
            Content::Stored(mode, id) => Some((file.name.as_str(), Item::File(mode, id))),
            Content::Unknown | Content::Skipped(_) => None,
        });
    let children = folder
        .children
        .iter()
        .filter_map(|(name, child)| match child.own.tree {
            Tree::Stored(id) => Some((name.as_str(), Item::Tree(id))),
            Tree::Unknown | Tree::Empty => None,
        });
    let mut items = files.chain(children).peekable();
    folder.own.tree = if items.peek().is_some() {
        Tree::Stored(tree::put(objects, items)?)
    } else {
        Tree::Empty
    };
    Ok(folder.own.tree)
}
