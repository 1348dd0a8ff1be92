//! Open directories, and access to their entries by name.
//!
//! Between the check of a path and its use, another process can replace any component with a link.
//! So this crate never uses a path twice: a [`Directory`] is opened without following links, and
//! every operation on a file uses its open directory and a single name, without following a link at
//! that name. If a component is replaced with a link at any time, the operation fails and does not
//! follow the link. An open directory always stays the same directory.
//!
//! An entry of another kind than expected, such as a link, is an error of the kind
//! [`NotADirectory`](std::io::ErrorKind::NotADirectory), both within a path and at its end.
//! [`is_absent`] recognises it. Every name is one component: `..`, a path and an empty name are
//! refused, and on Windows also a name that refers to something with another name.
//!
//! On systems without operations relative to a directory (Windows), directories are paths. They are
//! checked when they are opened, and again after a file or a listing was opened below them. A link
//! that is created between opening a directory and changing a file in it would be followed there.
//!
//! This crate never opens, replaces or removes a file that belongs to a database that is open in
//! this process, because closing it would release the locks of SQLite (see [`OpenDatabase`]).
//!
//! All operations block on the disk.

mod bounded;
mod child;
mod databases;
mod directory;
mod names;
#[cfg(not(unix))]
mod portable;
mod private;
mod replacing;
mod stamp;
#[cfg(unix)]
mod unix;

pub use bounded::{read_file, read_text};
pub use child::Child;
pub use databases::{OpenDatabase, is_open_database, open_file, refuse_database};
pub use directory::is_absent;
#[cfg(not(unix))]
pub use portable::Directory;
pub use private::{create_private_folder, private_file};
pub use replacing::is_temporary;
pub use stamp::{Kind, Stamp, now};
#[cfg(unix)]
pub use unix::Directory;
