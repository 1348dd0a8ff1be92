//! Starting a process that leads a session of its own.

use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::RawFd;

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::unistd::Pid;

/// Starts a script of `/bin/sh` that leads a session, with its arguments. It has these variables and
/// these files, each with its new number, and no others that are closed on `exec`, as all of the
/// host's are.
///
/// # Errors
///
/// An argument or a variable holds a NUL, or there is no process to be had.
pub fn leader(
    arguments: &[&[u8]],
    variables: &[String],
    files: &[(RawFd, RawFd)],
) -> io::Result<Pid> {
    let mut actions = PosixSpawnFileActions::init()?;
    for (file, number) in files {
        actions.add_dup2(*file, *number)?;
    }
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_flags(
        PosixSpawnFlags::from_bits_retain(SETSID)
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
            | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK,
    )?;
    // Programs expect the usual; hosts often ignore SIGPIPE.
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    let arguments = [b"/bin/sh", b"-c".as_slice()]
        .into_iter()
        .chain(arguments.iter().copied());
    let arguments: Result<Vec<_>, NulError> = arguments.map(CString::new).collect();
    let variables = variables
        .iter()
        .map(|variable| CString::new(variable.as_bytes()));
    let variables: Result<Vec<_>, NulError> = variables.collect();
    Ok(posix_spawn(
        "/bin/sh",
        &actions,
        &attributes,
        &arguments?,
        &variables?,
    )?)
}

/// `POSIX_SPAWN_SETSID`, which the systems have numbered differently.
const SETSID: i32 = if cfg!(target_vendor = "apple") {
    0x400
} else {
    0x80
};
