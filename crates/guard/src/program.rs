//! Starts a program that its guard knows from the beginning.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::unistd::Pid;

use crate::spawn::leader;
use crate::watch::Guard;

/// Starts a program in a directory as the leader of a new session. It registers with the guard before it runs, and
/// receives exactly these variables and these three files: standard input, output and error.
///
/// # Errors
///
/// The same as for [`leader`]. A program that cannot be run ends with the exit code 126 or 127.
pub fn program(
    command: &[impl AsRef<[u8]>],
    directory: &Path,
    variables: &BTreeMap<String, String>,
    files: [RawFd; 3],
    guard: &Guard,
) -> io::Result<Pid> {
    let Some((program, rest)) = command.split_first() else {
        return Err(io::Error::other("the command is empty"));
    };
    let directory = directory.as_os_str().as_bytes();
    let mut arguments = vec![BECOME.as_bytes(), program.as_ref(), directory];
    arguments.extend(rest.iter().map(AsRef::as_ref));
    let variables = variables.iter();
    let variables: Vec<_> = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let [input, output, errors] = files;
    let files = [(input, 0), (output, 1), (errors, 2), (guard.register(), 3)];
    leader(&arguments, &variables, &files)
}

/// Registers with the guard and then runs the program in the arguments.
const BECOME: &str = r#"
echo $$ >&3 && cd "$1" && shift && unset OLDPWD && exec "$0" "$@" 3>&-
"#;
