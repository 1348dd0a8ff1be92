//! Tests that need more than one crate and more than one process.
//!
//! The kill tests: a process carries out a load on a database file and is killed at a named fail
//! point or at an arbitrary instant. Then another process opens the file and checks all guarantees.
//! A life is a file with several such generations.
//!
//! A [`plan`] lists the work of one generation and its end. [`load`] carries it out with its own
//! [`model`] and [`tools`], and reports the acknowledgements as [`mod@line`]s. [`point`] lists the
//! fail points. [`life`] starts the hosts and collects their lines in a [`ledger`]. [`processes`]
//! finds processes that outlived their host. [`check`] compares the ledger with the stored data and
//! with the acts in the [`journal`].

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
