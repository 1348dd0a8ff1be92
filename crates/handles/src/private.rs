//! Private files and folders of the host: only their owner has access, regardless of the umask.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
};

/// Creates a folder and its parents. Existing folders keep their permissions.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns options for writing a file. A file that they create is private. The caller decides if
/// they create one.
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_are_private_and_existing_files_keep_their_mode() {
        let temp = tempfile::tempdir().unwrap();
        let shared = temp.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        let deep = shared.join("a/b");
        create_private_folder(&deep).unwrap();
        create_private_folder(&deep).unwrap();
        let file = deep.join("file");
        private_file().create(true).open(&file).unwrap();
        let modes = [&*shared, &shared.join("a"), &deep, &file].map(mode);
        assert_eq!(modes, [0o755, 0o700, 0o700, 0o600]);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        private_file().create(true).open(&file).unwrap();
        assert_eq!(mode(&file), 0o640);
    }
}
