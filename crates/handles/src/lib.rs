//! Directories that are held open, and what stands in them by its name.
//!
//! Between judging a path and using it somebody may put a link in the place of any of its components.
//! So nothing goes by the path once more: a [`Directory`] is opened through no link, and what is done
//! to a file is done relative to its directory by a single name, whose link is not followed either.
//! Whoever puts a link in place of a component, at whatever moment, makes the operation fail instead of
//! leading it elsewhere. What was opened once stays what it was.
//!
//! Something else than what was looked for, a link for example, is an error of the kind
//! [`NotADirectory`](io::ErrorKind::NotADirectory), be it on the way or at its end; [`is_absent`] knows
//! it. Every name is one component: `..`, a path and an empty name are refused, and on
//! Windows what names something by another name than its own.
//!
//! Where the system has no names relative to a directory (Windows), directories are paths that are
//! looked at when they are opened, and again once a file or a list of names was opened below. A link
//! that is put in place between opening a directory and changing a file in it would be followed there.
//!
//! No file is opened, replaced or removed here that belongs to a database which is open in this
//! process: closing it would drop the locks of SQLite (see [`OpenDatabase`]).
//!
//! Everything here blocks on the disk.

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
