//! Kills at every fail point and at arbitrary instants, with a few generations per file.

#[cfg(test)]
mod documented;
#[cfg(test)]
mod instants;
#[cfg(test)]
mod named;
#[cfg(test)]
mod noticed;

/// The program that the tests kill.
#[cfg(test)]
const PROGRAM: &str = env!("CARGO_BIN_EXE_crash");

/// A folder for one life. Dropping the value removes it.
#[cfg(test)]
fn folder() -> tempfile::TempDir {
    let named = tempfile::Builder::new().prefix("life-").to_owned();
    named.tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Keeps the folder of a failed life, and returns the commands that check it and run it again.
#[cfg(test)]
fn kept(folder: tempfile::TempDir) -> String {
    let folder = folder.keep();
    let folder = folder.display();
    format!(
        "\nlook again: npm run crash -- check {folder}\nrun again: npm run crash -- again {folder} 20"
    )
}
