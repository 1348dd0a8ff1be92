//! Compaction: a checkpoint replaces older Session History, so that requests stay within the context
//! window of the model.
//!
//! `estimate` decides when a request is too large. `selection` selects the history that a summary
//! replaces and the history that stays verbatim, in the form that `serialise` writes. `attempt` asks
//! the model for the summary (`prompt`) and records it. `parts` makes several summaries of a history
//! that is larger than one request can be. `manual` compacts at the request of a caller. The runner
//! decides when a Provider Turn compacts. `pause` prevents repeated automatic compaction without
//! effect.
//!
//! No data is lost: all messages stay stored and readable, an input that waits for its answer is in the
//! checkpoint, and inputs that arrive meanwhile stay pending. A failed summary leaves the history
//! unchanged.

mod attempt;
mod parts;
mod pause;
mod prompt;
mod selection;
mod serialise;
mod summariser;

pub(crate) use self::attempt::{CompactionInput, Compactor, Failure, Outcome};
pub(crate) use self::pause::Pause;
pub(crate) use self::summariser::Summariser;
