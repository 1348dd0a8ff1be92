//! Reads small files of unverified size and kind.

use std::io::{self, Read};
use std::path::Path;

use opencode_handles::open_file;

/// Returns the bytes of the file, or `None` if the file does not exist.
///
/// Fails for anything other than a regular file, because reading a pipe or a device may never end. Also
/// fails for files larger than `limit` bytes and for a database that is open in this process.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open_file(path) {
        Ok(file) => file,
        // A parent that is a file has the same meaning as a missing file: the path does not exist.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    // Reads one byte more than allowed. This distinguishes a file at the limit from a larger one, even
    // if the file grows during the read.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(other(&format!("it is larger than {limit} bytes")));
    }
    Ok(Some(bytes))
}

/// Returns the text of the file. `None` if [`read`] returns none or fails, or if the text is not UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> Option<String> {
    String::from_utf8(read(path, limit).ok()??).ok()
}

fn other(message: &str) -> io::Error {
    io::Error::other(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "12345").unwrap();

        assert_eq!(read(&file, 5).unwrap().as_deref(), Some(&b"12345"[..]));
        assert_eq!(
            read(&file, 4).unwrap_err().to_string(),
            "it is larger than 4 bytes"
        );
        assert_eq!(
            read(directory.path(), 5).unwrap_err().to_string(),
            "it is not a regular file"
        );
        assert!(read(&directory.path().join("none"), 5).unwrap().is_none());
        assert!(read(&file.join("below"), 5).unwrap().is_none());
    }
}
