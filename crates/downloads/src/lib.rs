//! Copies of what the configuration names elsewhere: Git repositories, and skills behind addresses.
//!
//! A copy is a directory below the data or cache directory of the host. A caller names the copies that it needs, as
//! often as it likes. The host makes and updates them in the background, each at most once an hour, and replaces a
//! directory only when its new content is complete. So readers find the last complete copy, also without a network.
//! Failures never reach the caller: [`Downloads::failure`] returns the reason for its diagnostics.

mod copy;
mod downloads;
mod folder;
mod git;
mod repositories;
mod skills;

pub use copy::{Copy, Origin};
pub use downloads::Downloads;
