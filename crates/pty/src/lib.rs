//! Terminals: interactive programs that run in a Location.
//!
//! [`Terminals`] holds the terminals of one host in memory. It does not use HTTP or sessions: its
//! owner supplies the programs and their environment, forwards notices to clients, and closes it.
//!
//! Modules: `terminals` has the list of all terminals, `terminal` one terminal with a running
//! program, `process` the program and its processes, `output` the output of a program and its
//! clients, `buffer` the part of the output that is kept, `utf8` its text, `tickets` the
//! permissions to connect, `request` the options of a new terminal, and `shell` the default
//! program.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![cfg_attr(not(unix), allow(dead_code, reason = "no terminal ever begins there"))]

mod buffer;
mod error;
mod output;
#[cfg(unix)]
mod process;
mod request;
mod shell;
#[cfg_attr(not(unix), path = "unsupported.rs")]
mod terminal;
mod terminals;
mod tickets;
mod utf8;

pub use error::TerminalError;
pub use output::{Cursor, FRAME, OutputBounds, OutputItem};
pub use request::{CreateTerminal, Environment, UpdateTerminal, check_variables};
pub use shell::default_shell;
pub use terminals::{Attached, Bounds, Reservation, Terminals, TerminalsOptions};
pub use tickets::TICKET_SECONDS;
