//! Git trees: the items of directories.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap, hash_map::Entry as Place},
};

use git2::{ObjectType, Oid};

use crate::entry::{Entry, Mode};
use crate::error::SnapshotError;
use crate::objects::Objects;

const MODE_TREE: &str = "40000";

/// An item of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    File(Mode, Oid),
    Tree(Oid),
}

impl Item {
    /// Returns the file, or `None` for a directory.
    pub(crate) fn file(self) -> Option<Entry> {
        match self {
            Self::File(mode, id) => Some(Entry {
                id: id.to_string(),
                mode,
            }),
            Self::Tree(_) => None,
        }
    }
}

/// The items of a directory by name, sorted by bytes.
pub(crate) type Items = BTreeMap<String, Item>;

/// Stores a tree. Git sorts a directory as if its name ended in a slash.
pub(crate) fn put<'a>(
    objects: &Objects,
    items: impl Iterator<Item = (&'a str, Item)>,
) -> Result<Oid, SnapshotError> {
    let mut items: Vec<_> = items.collect();
    items.sort_unstable_by(|left, right| order(*left, *right));
    let mut bytes = Vec::new();
    for (name, item) in items {
        let (mode, id) = match item {
            Item::File(mode, id) => (mode.as_str(), id),
            Item::Tree(id) => (MODE_TREE, id),
        };
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    }
    objects.put(ObjectType::Tree, &bytes)
}

fn order((left, left_item): (&str, Item), (right, right_item): (&str, Item)) -> Ordering {
    let key = |name: &str, item| {
        let slash: &[u8] = if matches!(item, Item::Tree(_)) {
            b"/"
        } else {
            b""
        };
        [name.as_bytes(), slash].concat()
    };
    key(left, left_item).cmp(&key(right, right_item))
}

/// Reads a tree.
pub(crate) fn read(objects: &Objects, id: Oid) -> Result<Items, SnapshotError> {
    let bytes = objects.read(id, ObjectType::Tree)?;
    decode(&bytes).ok_or_else(|| SnapshotError::Missing(id.to_string()))
}

fn decode(mut bytes: &[u8]) -> Option<Items> {
    let mut items = Items::new();
    while !bytes.is_empty() {
        let nul = bytes.iter().position(|byte| *byte == 0)?;
        let (mode, name) = std::str::from_utf8(&bytes[..nul]).ok()?.split_once(' ')?;
        let id = Oid::from_bytes(bytes.get(nul + 1..nul + 21)?).ok()?;
        let item = match mode {
            MODE_TREE => Item::Tree(id),
            "100644" => Item::File(Mode::File, id),
            "100755" => Item::File(Mode::Executable, id),
            "120000" => Item::File(Mode::Link, id),
            _ => return None,
        };
        items.insert(name.to_owned(), item);
        bytes = &bytes[nul + 21..];
    }
    Some(items)
}

/// Maximum number of cached names, which limits the memory for lookups of many paths.
const MAX_HELD: usize = 100_000;

/// A cache of trees for lookups of many paths. Reads each tree once.
pub(crate) struct Trees<'a> {
    objects: &'a Objects,
    read: HashMap<Oid, Items>,
    held: usize,
}

impl<'a> Trees<'a> {
    pub(crate) fn new(objects: &'a Objects) -> Self {
        Self {
            objects,
            read: HashMap::new(),
            held: 0,
        }
    }

    /// Returns the item at a path, or the tree itself for an empty path.
    pub(crate) fn find(&mut self, tree: Oid, path: &str) -> Result<Option<Item>, SnapshotError> {
        let mut here = Item::Tree(tree);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Item::Tree(id) = here else {
                return Ok(None);
            };
            match self.items(id)?.get(name) {
                Some(item) => here = *item,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// Returns the file at a path, or `None` if there is no file.
    pub(crate) fn file(&mut self, tree: Oid, path: &str) -> Result<Option<Item>, SnapshotError> {
        let found = self.find(tree, path)?;
        Ok(found.filter(|item| matches!(item, Item::File(..))))
    }

    fn items(&mut self, id: Oid) -> Result<&Items, SnapshotError> {
        if self.held > MAX_HELD {
            self.read.clear();
            self.held = 0;
        }
        match self.read.entry(id) {
            Place::Occupied(items) => Ok(items.into_mut()),
            Place::Vacant(place) => {
                let items = place.insert(read(self.objects, id)?);
                self.held += items.len();
                Ok(items)
            }
        }
    }
}

/// Parses the id of a snapshot.
pub(crate) fn id(text: &str) -> Result<Oid, SnapshotError> {
    let invalid = || SnapshotError::InvalidId(text.to_owned());
    if text.len() != 40 {
        return Err(invalid());
    }
    Oid::from_str(text).map_err(|_| invalid())
}
