//! The shell of a command.

use std::{
    fs::File,
    io::{self, PipeReader, pipe},
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
};

use nix::unistd::Pid;
use opencode_guard::{Guard, leader};

use super::Order;

/// The shell of a command.
pub(super) struct Shell {
    pub(super) number: Pid,
    pub(super) out: PipeReader,
    pub(super) err: PipeReader,
}

impl Shell {
    /// `marker` is the last line of the output if the shell cannot be started.
    pub(super) fn spawn(order: &Order, marker: &str, guard: &Guard) -> io::Result<Self> {
        let ((out, out_end), (err, err_end)) = (pipe()?, pipe()?);
        let null = File::options().write(true).open("/dev/null")?;
        let script = BECOME.replace("MARKER", marker);
        let mut arguments = vec![
            script.as_bytes(),
            order.shell.program().as_bytes(),
            order.directory.as_os_str().as_bytes(),
            b"-c",
            order.command.as_bytes(),
        ];
        if !order.arguments.is_empty() {
            // The name of the shell is its parameter 0.
            arguments.push(order.shell.program().as_bytes());
            arguments.extend(order.arguments.iter().map(|it| it.as_bytes()));
        }
        let variables = order.variables();
        let variables: Vec<_> = variables
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let files = [
            (guard.register(), 0),
            (out_end.as_raw_fd(), 1),
            (null.as_raw_fd(), 2),
            (err_end.as_raw_fd(), 3),
        ];
        let number = leader(&arguments, &variables, &files)?;
        Ok(Self { number, out, err })
    }
}

/// Registers with the guard and then runs the shell in the arguments. If that fails, the script prints
/// the marker and ends by a signal, because a failure must not look like the end of a command. Some
/// shells end when `exec` fails; Bash must be told to continue. The file `3` may be closed by then.
const BECOME: &str = r#"
trap '{ echo MARKER >&3; } 2>/dev/null || echo MARKER >&2; kill -KILL $$' EXIT
[ "$BASH_VERSION" ] && shopt -s execfail
echo $$ >&0 && cd "$1" && shift && unset OLDPWD && exec "$0" "$@" </dev/null 2>&3 3>&-
exit
"#;
