//! System Context: the text that informs the model about its environment, composed from independent
//! Context Sources.
//!
//! A [`Source`] observes one subject and renders it as text. A [`SystemContext`] combines sources
//! in a fixed order. Observing it loads every source once, concurrently, and returns an
//! [`Observed`]. All further results derive from it without another observation:
//!
//! - [`Observed::initialize`] begins a Context Epoch: the Baseline System Context, which is the
//!   exact text sent, and the Context Snapshot, which holds the values behind that text.
//! - [`Observed::reconcile`] compares the observation with the snapshot. It returns the text that
//!   tells the model the changes, or a new baseline that must replace the former one.
//! - [`Observed::replace`] returns that new baseline regardless of the changes.
//!
//! A [`Registry`] collects the contributions to the context of one Location.
//!
//! # States of a source
//!
//! A source that can be observed is *present* with a value. A source without information is
//! *absent*, exactly as if it were not part of the context. A source that cannot be observed now is
//! *unavailable*: the last information that the model received stays valid. No epoch begins without
//! an unavailable source, unless the source is not required.
//!
//! A present source must have a text. A source breaks this contract if one of its texts is empty, if its
//! value is larger than [`MAX_VALUE_BYTES`], or if it rejects its own value. It then counts as
//! unavailable, with the reason, so that the model neither misses information nor receives an empty text.
//!
//! This crate does not depend on sessions, databases or models.

mod combined;
mod observed;
mod registry;
mod snapshot;
mod source;

pub use combined::{CombineError, LOAD_TIMEOUT, SystemContext};
pub use observed::{
    InitializationBlocked, Observed, Reconciled, Replaced, SourceStatus, Unavailable,
};
pub use registry::{RESERVED_NAMESPACE, RegisterError, Registration, Registry};
pub use snapshot::{Admitted, Baseline, Snapshot};
pub use source::{MAX_VALUE_BYTES, Observation, Source, is_key};
