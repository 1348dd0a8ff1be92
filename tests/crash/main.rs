//! Kills at every fail point and at any instant, a few generations per file.

#[cfg(test)]
mod documented;
#[cfg(test)]
mod instants;
#[cfg(test)]
mod named;
#[cfg(test)]
mod noticed;

/// The program that is killed.
#[cfg(test)]
const PROGRAM: &str = env!("CARGO_BIN_EXE_crash");

/// A folder for one life, removed at the end.
#[cfg(test)]
fn folder() -> tempfile::TempDir {
    let named = tempfile::Builder::new().prefix("life-").to_owned();
    named.tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Keeps the folder of a life that went wrong and says how to look again.
#[cfg(test)]
fn kept(folder: tempfile::TempDir) -> String {
    let folder = folder.keep();
    let folder = folder.display();
    format!(
        "\nlook again: npm run crash -- check {folder}\nrun again: npm run crash -- again {folder} 20"
    )
}
