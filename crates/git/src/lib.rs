//! Reads Git repositories by their files, without a Git program.
//!
//! A repository may be hostile: every size, depth and number is bounded, only regular files are
//! opened, and no file of a database that is open in this process. Nothing is written.
//!
//! Packs are mapped into memory. Git never changes a pack. If another program truncates one while
//! it is read, the operating system ends the process.

mod directories;
mod head;
mod loose;
mod object;
mod objects;
mod pack;
mod root_commit;

pub use gix_hash::{Kind as Hash, ObjectId};
pub use gix_object::Kind;
pub use object::Object;
pub use objects::Objects;
pub use root_commit::first_root_commit;
