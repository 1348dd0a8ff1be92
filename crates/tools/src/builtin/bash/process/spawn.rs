//! The two processes of a command, each the leader of a session of its own.
//!
//! They are started with `posix_spawn`: to fork the process of a host, which may be large, takes
//! tens of milliseconds and stops its other threads.

use std::{
    ffi::{CString, NulError},
    fs::File,
    io::{self, PipeReader, PipeWriter, pipe},
    os::{
        fd::{AsRawFd, RawFd},
        unix::ffi::OsStrExt,
    },
};

use nix::{
    spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn},
    sys::signal::{SigSet, Signal, kill},
    unistd::Pid,
};

use super::{Order, system::bury};

/// Kills everything that a command has started when the host dies. It must outlive the command.
pub(super) struct Guard {
    number: Pid,
    /// Closed by nobody but the death of the host.
    pipe: PipeWriter,
}

impl Guard {
    pub(super) fn spawn() -> io::Result<Self> {
        let (reader, pipe) = pipe()?;
        let null = null()?;
        let files = [
            (reader.as_raw_fd(), 0),
            (null.as_raw_fd(), 1),
            (null.as_raw_fd(), 2),
        ];
        let number = leader(&[include_str!("guard.sh").as_bytes()], &[], &files)?;
        Ok(Self { number, pipe })
    }
}

impl Drop for Guard {
    /// Before its pipe ends, or it would do its work.
    fn drop(&mut self) {
        let _ = kill(self.number, Signal::SIGKILL);
        bury(self.number);
    }
}

/// The shell of a command.
pub(super) struct Shell {
    pub(super) number: Pid,
    pub(super) out: PipeReader,
    pub(super) err: PipeReader,
}

impl Shell {
    pub(super) fn spawn(order: &Order, guard: &Guard) -> io::Result<Self> {
        let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
        let null = null()?;
        let arguments = [
            BECOME.as_bytes(),
            order.shell.program().as_bytes(),
            order.directory.as_os_str().as_bytes(),
            b"-c",
            order.command.as_bytes(),
        ];
        let variables = order.variables();
        let variables: Vec<_> = variables
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let files = [
            (guard.pipe.as_raw_fd(), 0),
            (out_end.as_raw_fd(), 1),
            (null.as_raw_fd(), 2),
            (err_end.as_raw_fd(), 3),
        ];
        let number = leader(&arguments, &variables, &files)?;
        Ok(Self { number, out, err })
    }
}

/// Registers with the guard and becomes the shell in the arguments. What fails must not look like a
/// command that ended with a code, so this says nothing and ends by a signal then. Some shells end
/// where `exec` fails, others have to be told to go on.
const BECOME: &str = r#"
trap 'kill -KILL $$' EXIT
[ "$BASH_VERSION" ] && shopt -s execfail
echo $$ >&0 && cd "$1" && shift && unset OLDPWD && exec "$0" "$@" </dev/null 2>&3 3>&-
exit
"#;

fn null() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/null")
}

/// Starts a script of `/bin/sh` that leads a session, with its arguments. It has these variables and
/// these files, each with its new number, and no others.
fn leader(arguments: &[&[u8]], variables: &[String], files: &[(RawFd, RawFd)]) -> io::Result<Pid> {
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
