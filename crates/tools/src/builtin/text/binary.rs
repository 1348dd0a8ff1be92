//! Bytes that are no text.

/// First bytes of common formats. Each contains a byte that no text has there, or is too long to be a word.
const FORMATS: &[&[u8]] = &[
    b"%PDF",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh91AY&SY",
    b"\xfd7zXZ",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xd0\xcf\x11\xe0",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"\xff\xfb",
    b"\xff\xfa",
    b"\xff\xf3",
    b"\xff\xf2",
];

/// True if bytes begin like a file of a known binary format.
pub(crate) fn has_binary_format(head: &[u8]) -> bool {
    FORMATS.iter().any(|format| head.starts_with(format))
}

/// True if bytes are not text: they contain a NUL or too many control characters that are unusual in
/// text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let mut counts = ByteCounts::default();
    counts.add(bytes);
    counts.is_binary()
}

/// Counts over chunks, because a line may not fit into memory.
#[derive(Default)]
pub(crate) struct ByteCounts {
    pub(crate) bytes: u64,
    pub(crate) controls: u64,
    pub(crate) has_nul: bool,
}

impl ByteCounts {
    pub(crate) fn add(&mut self, chunk: &[u8]) {
        let is_control = |byte: &&u8| matches!(byte, 1..9 | 14..32);
        self.bytes += chunk.len() as u64;
        self.controls += chunk.iter().filter(is_control).count() as u64;
        self.has_nul |= chunk.contains(&0);
    }

    pub(crate) fn is_binary(&self) -> bool {
        // More than 30 %.
        self.has_nul || self.controls * 10 > self.bytes * 3
    }
}
