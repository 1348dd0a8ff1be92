//! Starts a process as the leader of a new session.

use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::RawFd;

use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::unistd::Pid;

/// Starts a script of `/bin/sh` with its arguments as the leader of a new session. It receives
/// exactly these variables, and these files under their new numbers. All other files of the host
/// are closed on `exec`.
///
/// # Errors
///
/// Fails if an argument or a variable contains a NUL, or if the system cannot provide a process.
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
    // Programs expect the default signal handling. Hosts often ignore SIGPIPE.
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

/// `POSIX_SPAWN_SETSID`, which has different values on different systems.
const SETSID: i32 = if cfg!(target_vendor = "apple") {
    0x400
} else {
    0x80
};
