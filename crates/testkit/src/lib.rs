//! What tests of the runtime need: a scripted model, injected time and identifiers, projects in
//! temporary folders, and a [`Fixture`] that opens a runtime on all of them.
//!
//! Only tests depend on it. It knows the runtime through its public operations alone, so a test
//! written with it sees what a host sees.
//!
//! How to read it: [`Fixture`] is where a test begins. A [`Reply`] says what [`ScriptedModel`]
//! answers, a [`ScriptedSource`] what the System Context tells, a [`Gate`] holds an answer, a tool or
//! an observation until the test goes on, a [`Blockade`] the store at a [`seam()`]. [`compact`] writes events
//! and requests as short texts, so that a test can compare all of them at once. No wait is a sleep,
//! and each has a deadline that fails the test with what happened so far.

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
mod seam;
mod source;
mod tool;
mod wire;

pub use check::check as check_request;
pub use clock::{FakeClock, WriterHold, fake_ids};
pub use fetch::ScriptedFetch;
pub use fixture::{Fixture, prompt_request};
pub use gate::Gate;
pub use live::LiveLog;
pub use log::RecordedLog;
pub use model::ScriptedModel;
pub use project::{TempProject, make_repository};
pub use reply::Reply;
pub use seam::{Blockade, seam};
pub use source::ScriptedSource;
pub use tool::output;
