//! Tools for tests of the runtime: a scripted model, injected time and identifiers, projects in
//! temporary folders, and a [`Fixture`] that opens a runtime with all of them.
//!
//! Only tests depend on this crate. It uses only the public operations of the runtime, so its tests
//! observe exactly what a host observes.
//!
//! Start with [`Fixture`]. A [`Reply`] is one answer of a [`ScriptedModel`]. A [`ScriptedSource`]
//! contributes to the System Context. A [`Gate`] holds an answer, a tool or an observation until
//! the test opens it. A [`Blockade`] holds the store at a [`test_hook()`]. [`compact`] converts events
//! and requests to short texts, so that a test can compare all of them at once. Waits do not sleep.
//! Each wait has a deadline that fails the test with the events so far.

mod authorization;
mod check;
mod clock;
pub mod compact;
mod fetch;
mod fixture;
mod gate;
mod live;
mod log;
mod model;
mod project;
mod reply;
mod source;
mod test_hook;
mod tool;
mod wire;

pub use authorization::{AuthorizationServer, Behaviour, Received, redirect_port};
pub use check::check as check_request;
pub use clock::{FakeClock, WriterHold, fake_ids};
pub use fetch::ScriptedFetch;
pub use fixture::{Fixture, prompt_request, with_settings};
pub use gate::Gate;
pub use live::LiveLog;
pub use log::RecordedLog;
pub use model::ScriptedModel;
pub use project::{TempProject, make_repository};
pub use reply::Reply;
pub use source::ScriptedSource;
pub use test_hook::{Blockade, test_hook};
pub use tool::{built_in_tools, output};
