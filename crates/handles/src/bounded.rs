//! Reads small files of unverified size and kind.

use std::io::{self, Read};
use std::path::Path;

use crate::databases::open_file;
use crate::directory::is_absent;

/// Returns the bytes of the file, or `None` if the file does not exist. Follows links.
///
/// # Errors
///
/// Fails for anything other than a regular file, because reading a pipe or a device may never end. Also
/// fails for files larger than `limit` bytes and for a database that is open in this process.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open_file(path) {
        Ok(file) => file,
        // A parent that is a file has the same meaning as a missing file: the path does not exist.
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    // Reads one byte more than allowed. This distinguishes a file at the limit from a larger one, even
    // if the file grows during the read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("it is larger than {limit} bytes");
        return Err(io::Error::other(message));
    }
    Ok(Some(bytes))
}

/// Returns the text of the file. `None` if [`read_file`] returns none or fails, or if the text is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Option<String> {
    String::from_utf8(read_file(path, limit).ok()??).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "12345").unwrap();

        assert_eq!(read_file(&file, 5).unwrap().as_deref(), Some(&b"12345"[..]));
        assert_eq!(
            read_file(&file, 4).unwrap_err().to_string(),
            "it is larger than 4 bytes"
        );
        assert_eq!(
            read_file(directory.path(), 5).unwrap_err().to_string(),
            "it is not a regular file"
        );
        assert!(
            read_file(&directory.path().join("none"), 5)
                .unwrap()
                .is_none()
        );
        assert!(read_file(&file.join("below"), 5).unwrap().is_none());
    }
}
