//! The run coordinator: at most one Session Drain per session, in this host.
//!
//! [`state`] decides, as a pure reducer with a table; [`edge`] executes its decisions.

mod edge;
pub(crate) mod state;

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod properties;

pub(crate) use self::edge::{Coordinator, Drain, DrainExit, RunAnswer, SessionHold, Stopper};
use crate::sync;
