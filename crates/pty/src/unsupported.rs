//! Terminals on systems that are not supported yet: every start fails.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::output::Output;

/// The program of a terminal.
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
}

/// The reason that a program did not start.
pub(crate) enum StartError {
    System(io::Error),
    #[allow(dead_code, reason = "nothing begins here")]
    Program(io::Error),
}

/// A started program, which never exists here.
pub(crate) struct Started(Infallible);

/// The controls of a terminal, which never exist here.
#[derive(Clone)]
pub(crate) struct Controls(Infallible);

/// A running terminal, which never exists here.
pub(crate) struct Running(Infallible);

/// Fails, because terminals are not supported on this system.
pub(crate) fn start(_: Program) -> Result<Started, StartError> {
    let message = "they are not supported on this system yet";
    let error = io::Error::new(io::ErrorKind::Unsupported, message);
    Err(StartError::System(error))
}

impl Started {
    pub(crate) fn id(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn connect(self, _: Arc<Output>) -> (Controls, Running) {
        match self.0 {}
    }
}

impl Controls {
    pub(crate) fn end(&self) {
        match self.0 {}
    }

    pub(crate) async fn ended(&self) {
        match self.0 {}
    }

    pub(crate) fn kill(&self) {
        match self.0 {}
    }

    pub(crate) fn resize(&self, _: u16, _: u16) {
        match self.0 {}
    }

    pub(crate) fn input(&self) -> mpsc::Sender<Bytes> {
        match self.0 {}
    }
}

impl Running {
    pub(crate) async fn run(self) -> u32 {
        match self.0 {}
    }
}
