//! Compaction: a checkpoint takes the place of older Session History, so that what is sent to the
//! model stays within its window.
//!
//! `estimate` says when a request has become too large, `selection` what of the history a summary
//! stands for and what stays in its own words, as `serialise` writes it. `attempt` asks the model for
//! that summary (`prompt`) and records it; of a history that is larger than a request may be, `parts`
//! makes several. `manual` does so because somebody asks for it; when a
//! Provider Turn does is decided in the runner. `pause` keeps automatic compaction from being made
//! again and again where it brings nothing.
//!
//! Nothing is lost by it: all messages stay stored and readable, an input that waits for its answer
//! is in the checkpoint, and inputs that come meanwhile stay pending. A summary that does not come
//! about leaves the history as it was.

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
