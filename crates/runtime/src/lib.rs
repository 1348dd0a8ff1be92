//! The session engine: what happens between an Admitted Prompt and a settled Session Drain.
//!
//! It knows the event store, Locations, tools and the canonical model request. It knows no HTTP
//! and no JavaScript: [`Runtime`] is what both are built on.
//!
//! How to read it: [`Runtime`] lists the operations. `inbox` admits and promotes. `coordinator`
//! decides who runs, as a pure reducer with an asynchronous edge. `runner` drains a session:
//! `boundary` is the Safe Provider-Turn Boundary, `turn` one Provider Turn, `publisher` turns what
//! the provider says into events. `lowering` and `transcript` make requests from Session History.

mod coordinator;
mod core;
mod environment;
pub mod error;
mod inbox;
mod live;
mod lowering;
mod reads;
mod runner;
mod runtime;
mod sessions;
mod slug;
mod tail;
mod transcript;

pub use error::{DrainError, RuntimeError};
pub use inbox::PromptRequest;
pub use live::{LiveBatch, LiveSubscription};
pub use runtime::{DrainOutcome, Runtime, RuntimeOptions};
pub use sessions::CreateSession;
pub use tail::SessionEvents;

// What the operations are asked in and answer with.
pub use opencode_store::{
    Anchored, DatabasePath, Durability, OpenError, Order, SessionFilter, StoreError, StoredEvent,
};
