//! System Context: what the model is told about its surroundings, made of independent sources.
//!
//! A [`Source`] observes one thing and renders it. A [`SystemContext`] combines sources in an order
//! that is kept. Observing it loads every source once, concurrently, and gives an [`Observed`], from
//! which everything else follows without looking again:
//!
//! - [`Observed::initialize`] begins a Context Epoch: the Baseline System Context, which is the
//!   exact text sent, and the Context Snapshot, which is what that text was made from.
//! - [`Observed::reconcile`] compares with the snapshot and gives the text that tells the model what
//!   changed, or the baseline that has to take the place of the former one.
//! - [`Observed::replace`] gives that baseline whatever has changed.
//!
//! A [`Registry`] collects what others contribute to the context of one place.
//!
//! # Three answers
//!
//! A source that can be observed is *present* with a value. One that has nothing to tell is *absent*,
//! exactly as if it took no part. One that cannot be observed now is *unavailable*: what the model
//! was last told stays in force, and no epoch begins without it, unless it is not required.
//!
//! A present source owes a text. One whose texts are empty, whose value is larger than
//! [`MAX_VALUE_BYTES`] or is none by its own judgement breaks its contract and counts as
//! unavailable, with the reason, so that neither silence nor an empty text reaches the model.
//!
//! This crate knows no session, no database and no model.

mod combined;
mod observed;
mod registry;
mod snapshot;
mod source;

pub use combined::{CombineError, LOAD_PATIENCE, SystemContext};
pub use observed::{InitializationBlocked, Observed, Reconciled, Replaced, Standing, Unavailable};
pub use registry::{RESERVED_NAMESPACE, RegisterError, Registration, Registry};
pub use snapshot::{Admitted, Baseline, Snapshot};
pub use source::{MAX_VALUE_BYTES, Observation, Source};
