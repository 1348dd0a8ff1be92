//! Terminals: programs that run in a Location and are spoken to as a person would.
//!
//! [`Terminals`] holds those of one host, in memory. It knows no HTTP and no sessions: whoever owns
//! it says what programs begin with, tells clients what it is told of, and closes it.
//!
//! `terminals` is the list of all, `terminal` one whose program runs, `process` that program with
//! everything that belongs to it, `output` what the
//! program wrote and who follows it, `buffer` the part of that which is kept, `utf8` its text,
//! `tickets` who may connect, `request` what begins, `shell` that when nobody names it.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![cfg_attr(not(unix), allow(dead_code, reason = "no terminal ever begins there"))]

mod buffer;
mod error;
mod output;
#[cfg(unix)]
mod process;
mod request;
mod shell;
#[cfg_attr(not(unix), path = "elsewhere.rs")]
mod terminal;
mod terminals;
mod tickets;
mod utf8;

pub use error::TerminalError;
pub use output::{Cursor, FRAME, Next, OutputBounds};
pub use request::{CreateTerminal, Environment, UpdateTerminal, check_variables};
pub use shell::default_shell;
pub use terminals::{Attached, Bounds, Reservation, Terminals, TerminalsOptions};
pub use tickets::TICKET_SECONDS;
