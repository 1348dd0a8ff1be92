//! Tests that need more than one crate, and more than one process.
//!
//! The kill tests: a process carries out a load on a database file and is killed, at a named fail
//! point or at any instant; then another one opens the file and looks whether everything holds that
//! was promised. A life is a file with several such generations.
//!
//! How to read it: [`plan`] says what one generation does and how it dies, [`load`] does it, with
//! [`model`] and [`tools`] of its own, and says what it was told in [`mod@line`]s. [`point`] has the
//! fail points. [`life`] starts the hosts and puts what they said into a [`ledger`],
//! [`processes`] sees what outlived them, and [`check`] compares that with what is stored, and with the [`journal`] of what was done.

pub mod check;
pub mod export;
pub mod folder;
pub mod host;
pub mod journal;
pub mod ledger;
pub mod life;
pub mod line;
pub mod load;
pub mod model;
pub mod plan;
pub mod point;
pub mod processes;
pub mod random;
pub mod tools;
