//! The types of media that models read, by their first bytes. The type that a server, a program or a file name states is
//! often wrong, and a provider refuses a request with a wrong type.

/// Number of bytes that decide the type.
pub const HEAD_BYTES: usize = 12;

/// Returns the type of an image, a PDF document or a sound by its first bytes, at least [`HEAD_BYTES`] of them if there
/// are so many. `None` for everything else.
#[must_use]
pub fn media_type(head: &[u8]) -> Option<&'static str> {
    let container =
        |name: &[u8], kind: &[u8]| head.starts_with(name) && head.get(8..12) == Some(kind);
    let begins = |bytes: &[u8]| head.starts_with(bytes);
    Some(match head {
        _ if begins(b"\x89PNG\r\n\x1a\n") => "image/png",
        _ if begins(b"\xff\xd8\xff") => "image/jpeg",
        _ if begins(b"GIF87a") || begins(b"GIF89a") => "image/gif",
        _ if container(b"RIFF", b"WEBP") => "image/webp",
        _ if begins(b"%PDF-") => "application/pdf",
        _ if container(b"RIFF", b"WAVE") => "audio/wav",
        _ if container(b"FORM", b"AIFF") || container(b"FORM", b"AIFC") => "audio/aiff",
        _ if begins(b"OggS") => "audio/ogg",
        _ if begins(b"fLaC") => "audio/flac",
        [0xff, 0xf0 | 0xf1 | 0xf8 | 0xf9, ..] => "audio/aac",
        [0xff, 0xfb | 0xfa | 0xf3 | 0xf2, ..] => "audio/mpeg",
        _ if begins(b"ID3") => "audio/mpeg",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide_the_type() {
        for (head, expected) in [
            (
                b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
                Some("image/png"),
            ),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a\x01", Some("image/gif")),
            (b"RIFF\x24\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x24\0\0\0WAVEfmt ", Some("audio/wav")),
            (b"RIFF\x24\0\0\0AVI LIST", None),
            (b"FORM\0\0\0\x24AIFFCOMM", Some("audio/aiff")),
            (b"%PDF-1.7\n", Some("application/pdf")),
            (b"ID3\x04", Some("audio/mpeg")),
            (b"\xff\xfb\x90", Some("audio/mpeg")),
            (b"\xff\xf1\x50", Some("audio/aac")),
            (b"OggS", Some("audio/ogg")),
            (b"fLaC", Some("audio/flac")),
            (b"BM\x46\0\0\0", None),
            (b"II*\0", None),
            (b"MM\0*", None),
            (b"\0\0\0\x18ftypheic", None),
            (b"\0\0\0\x1cftypavif", None),
            (b"<svg/>", None),
            (b"this is no image", None),
            (b"\x89PNG", None),
            (b"", None),
        ] {
            assert_eq!(media_type(head), expected, "{head:?}");
        }
    }
}
