//! `file://` URLs of paths.

use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};

/// Characters that a URL path must not contain unescaped, or that have another meaning there.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Returns the URL of an absolute path. Escapes bytes that are not ASCII one by one, so a name that is
/// not Unicode has a URL too.
pub(crate) fn file_uri(path: &Path) -> String {
    if cfg!(windows) {
        let path = path.to_string_lossy().replace('\\', "/");
        return format!("file:///{}", percent_encode(path.as_bytes(), ESCAPED));
    }
    let path = path.as_os_str().as_encoded_bytes();
    format!("file://{}", percent_encode(path, ESCAPED))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        for (path, expected) in [
            (&b"/"[..], "file:///"),
            (b"/a/b-c_d.txt", "file:///a/b-c_d.txt"),
            (b"/a b/#1?100%.md", "file:///a%20b/%231%3F100%25.md"),
            ("/caf\u{e9}".as_bytes(), "file:///caf%C3%A9"),
            (b"/n\new\\line", "file:///n%0Aew%5Cline"),
            (b"/\xff", "file:///%FF"),
            (
                b"/[id]/(g)/@a+b&c=d;e,f!~$'*:",
                "file:///[id]/(g)/@a+b&c=d;e,f!~$'*:",
            ),
        ] {
            assert_eq!(file_uri(Path::new(OsStr::from_bytes(path))), expected);
        }
    }
}
